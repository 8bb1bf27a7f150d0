"""Fields and files of requests; they reject what the database cannot store."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from evaluation.reading.repairs import TAG, TAG_RULE
from leaderboard.actions.names import clean_slug
from leaderboard.api.errors import ApiError, field_error
from leaderboard.models.tracks import DATE_PATTERN
from leaderboard.runs.facts import REQUIRABLE, clean_facts, facts_schema
from leaderboard.runs.facts.kinds import LONGEST
from leaderboard.scoring.kinds import EVERY_FIX

FIRST_YEAR, LAST_YEAR = 2000, 2999
# JSON that others send is kept small: it is shown on pages, and read by every list.
MOST_ENTRIES = 60
LARGEST_EXACT = 2**53
FACT_NAMES = [fact.name for fact in REQUIRABLE]


def read_attribute(path: str) -> BeforeValidator:
    """Answer an attribute of an object, such as the name of a team; None if there is none."""
    read = attrgetter(path)
    return BeforeValidator(lambda value: None if value is None else read(value))


def clean_text(text: str) -> str:
    """Return stripped text; reject NUL and half a surrogate pair, which no database stores."""
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("has a character that cannot be stored")
    return text.strip()


def clean_instant(value: Any) -> datetime:
    """Parse an ISO 8601 time with a zone and return it in UTC."""
    try:
        instant = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("looks like 2026-11-30T23:59:00Z") from None
    if instant.tzinfo is None:
        raise ValueError("needs a time zone, as in 2026-11-30T23:59:00Z or +01:00")
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise ValueError(f"must be in the years {FIRST_YEAR} to {LAST_YEAR}")
    return instant.astimezone(UTC)


def clean_object(value: Any) -> dict[str, Any]:
    """Return a flat JSON object, which may be the text of a form field."""
    value = _parse_json(value)
    if not isinstance(value, dict) or len(value) > MOST_ENTRIES:
        raise ValueError(f"is a JSON object of at most {MOST_ENTRIES} entries")
    return {clean_text(key): _clean_plain(entry) for key, entry in value.items()}


def clean_fact_name(text: str) -> str:
    if text not in FACT_NAMES:
        raise ValueError(f"is one of {', '.join(FACT_NAMES)}")
    return text


def read_facts(value: Any) -> dict[str, Any]:
    return clean_facts(_parse_json(value))


def _parse_json(value: Any) -> Any:
    """Parse JSON if the value is the text of a form field."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_constant=_refuse_constant) if value.strip() else {}
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None


def _refuse_constant(text: str) -> None:
    raise ValueError(text)


def _clean_plain(value: Any) -> str | int | float | bool | None:
    if isinstance(value, str) and len(value) <= 1000:
        return clean_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST_EXACT:
        return value
    raise ValueError(
        "may only contain text of up to 1,000 characters, numbers, true, false and null"
    )


def clean_fixes(value: Any) -> tuple[str, ...]:
    """Return the names of repairs, given as a list or separated by commas."""
    entries = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError("is a list of names of repairs")
    names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    if unknown := [name for name in names if name not in EVERY_FIX]:
        raise ValueError(f"is one of {', '.join(EVERY_FIX)}, not {unknown[0][:20]}")
    return tuple(dict.fromkeys(names))


def clean_ids(value: Any) -> tuple[str, ...]:
    """Return ids, given as a list or separated by commas."""
    entries = value if isinstance(value, list | tuple) else [value]
    words = [clean_text(word) for entry in entries for word in str(entry).split(",")]
    return tuple(dict.fromkeys(filter(None, words)))


def clean_tag(text: str) -> str:
    if text and not TAG.fullmatch(text.encode()):
        raise ValueError(TAG_RULE)
    return text


Text = Annotated[str, AfterValidator(clean_text)]
Name = Annotated[Text, StringConstraints(min_length=1, max_length=120)]
Slug = Annotated[str, StringConstraints(max_length=60), AfterValidator(clean_slug)]
Version = Annotated[str, StringConstraints(max_length=40), AfterValidator(clean_slug)]
GradeScale = Annotated[str, StringConstraints(pattern=r"^0-(12[0-7]|1[01]\d|\d{1,2})$")]
FactText = Annotated[Text, StringConstraints(max_length=LONGEST)]
Label = Annotated[Text, StringConstraints(max_length=128)]
CollectionDate = Annotated[str, StringConstraints(pattern=f"{DATE_PATTERN}|^$")]
Region = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Key = Annotated[Text, StringConstraints(max_length=80)]
RunTag = Annotated[Text, AfterValidator(clean_tag)]
Fixes = Annotated[tuple[str, ...], BeforeValidator(clean_fixes), WithJsonSchema({"type": "string"})]
UploadIds = Annotated[
    tuple[str, ...], BeforeValidator(clean_ids), WithJsonSchema({"type": "string"})
]
MarkKey = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z_-]{1,40}$")]
Tab = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{1,32}$")]
Measure = Annotated[Text, StringConstraints(min_length=1, max_length=80)]
Instant = Annotated[datetime, BeforeValidator(clean_instant)]
PlainObject = Annotated[dict[str, Any], BeforeValidator(clean_object)]
FactName = Annotated[
    str,
    AfterValidator(clean_fact_name),
    WithJsonSchema({"type": "string", "enum": FACT_NAMES}),
]
Facts = Annotated[dict[str, Any], BeforeValidator(read_facts), WithJsonSchema(facts_schema())]
# In a form they are one text; an object would be described as a field of the form for each fact.
FormFacts = Annotated[
    dict[str, Any],
    BeforeValidator(read_facts),
    WithJsonSchema(
        {
            "type": "string",
            "contentMediaType": "application/json",
            "description": f"A JSON object of facts: {', '.join(facts_schema()['properties'])}.",
        }
    ),
]


def only_file(request: HttpRequest, name: str) -> UploadedFile | None:
    """Return the file sent as `name`; refuse two files of one name."""
    files = request.FILES.getlist(name)
    if len(files) > 1:
        raise field_error(name, f"appears {len(files)} times; only one file is accepted")
    return files[0] if files else None


def refuse_truncated_body(request: HttpRequest) -> None:
    """Refuse a body that is shorter than announced, because the sender disconnected."""
    stream = request._stream
    if stream._pos < stream.limit:
        raise ApiError(400, "E_FIELD", "The body is shorter than Content-Length.")
