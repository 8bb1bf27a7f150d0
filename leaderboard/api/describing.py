"""The calls of the API for its documentation page, from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}
FORMATS = {"date-time": "time", "binary": "file"}
PIECE = "application/octet-stream"
BODIES = {PIECE: "Body", "multipart/form-data": "Form", "application/json": "JSON"}
PLACES = {"path": "Path parameters", "query": "Query parameters", "header": "Header"}


@dataclass(frozen=True)
class DescribedPiece:
    """A piece of a text: words, or code that was between backticks."""

    words: str
    is_code: bool


@dataclass(frozen=True)
class DescribedField:
    name: str
    kind: str
    required: bool
    says: list[DescribedPiece]


@dataclass(frozen=True)
class DescribedPart:
    """The fields of one part of a call: of its path, its query, its body or its answer."""

    title: str
    fields: list[DescribedField]


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    title: str
    says: list[list[DescribedPiece]]
    parts: list[DescribedPart]

    @property
    def anchor(self) -> str:
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True)
class Group:
    title: str
    calls: list[Call]


def group_calls(document: Schema) -> list[Group]:
    """Group the calls by their tag, in the order of the document."""
    schemas = document["components"]["schemas"]
    groups: dict[str, Group] = {}
    for path, calls in document["paths"].items():
        for method, operation in calls.items():
            [tag] = operation["tags"]
            call = Call(
                method=method.upper(),
                path=path,
                title=operation["summary"].capitalize(),
                says=[
                    split_code(words)
                    for words in split_paragraphs(operation.get("description", ""))
                ],
                parts=[part for part in _parts(operation, schemas) if part.fields],
            )
            groups.setdefault(tag, Group(tag.capitalize(), [])).calls.append(call)
    return list(groups.values())


def split_paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def split_code(text: str) -> list[DescribedPiece]:
    """
    >>> [piece.words for piece in split_code("Send `a` and `b`.") if piece.is_code]
    ['a', 'b']
    """
    pieces = enumerate(text.split("`"))
    return [DescribedPiece(words, bool(place % 2)) for place, words in pieces if words]


def _parts(call: Schema, schemas: Schema) -> Iterator[DescribedPart]:
    for place, title in PLACES.items():
        given = [parameter for parameter in call.get("parameters", []) if parameter["in"] == place]
        yield DescribedPart(
            title, [_field(parameter["name"], parameter, schemas) for parameter in given]
        )
    for kind, body in call.get("requestBody", {}).get("content", {}).items():
        yield DescribedPart(BODIES[kind], _body_fields(kind, body["schema"], schemas))
    for status, answer in call["responses"].items():
        if int(status) < 300:
            # Two successes of a call have one body.
            content = answer.get("content", {}).get("application/json", {})
            yield DescribedPart(f"Answer {status}", _properties(content.get("schema", {}), schemas))
            break


def _body_fields(kind: str, schema: Schema, schemas: Schema) -> list[DescribedField]:
    """Return the fields of a body; one that is a file has no names."""
    if kind == PIECE:
        return [_field("bytes", {"schema": schema, "required": True}, schemas)]
    return _properties(schema, schemas)


def _properties(schema: Schema, schemas: Schema) -> list[DescribedField]:
    schema = _resolve(schema, schemas)
    required = schema.get("required", [])
    return [
        _field(name, {"schema": value, "required": name in required}, schemas)
        for name, value in schema.get("properties", {}).items()
    ]


def _field(name: str, given: Schema, schemas: Schema) -> DescribedField:
    schema = given["schema"]
    says = schema.get("description") or given.get("description") or ""
    return DescribedField(
        name, describe_type(schema, schemas), given.get("required", False), split_code(says)
    )


def describe_type(schema: Schema, schemas: Schema) -> str:
    """
    >>> describe_type({"type": "array", "items": {"enum": ["a", "b"]}}, {})
    'list of a, b'
    """
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if choices := schema.get("anyOf"):
        return " or ".join(_distinct(describe_type(choice, schemas) for choice in choices))
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}), schemas)}"
    schema = _resolve(schema, schemas)
    if "enum" in schema:
        return describe_type(schema, schemas)
    if schema.get("properties"):
        return f"{{{', '.join(schema['properties'])}}}"
    return FORMATS.get(schema.get("format", ""), KINDS.get(schema.get("type", ""), "anything"))


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _resolve(schema: Schema, schemas: Schema) -> Schema:
    """Return the schema that a reference names; of an `allOf`, the first."""
    [schema] = schema.get("allOf", [schema])[:1]
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
