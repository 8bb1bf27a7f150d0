"""Writing of nuggets in the formats of other tools, with what is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from evaluation.answers.marks import PEOPLE
from evaluation.answers.nugget_files import WHOLE
from evaluation.answers.nugget_steps import EDITED
from evaluation.answers.nuggets import AcceptedAnswer, Nugget, NuggetBank, pack_nugget


@dataclass
class NuggetWriter:
    """What writes one bank; `lost` counts what the format has no place for."""

    bank: NuggetBank
    format: str
    lost: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[bytes]:
        """Yield a JSON object for each topic."""
        for topic, nuggets in self.bank.topics.items():
            value = WRITERS[self.format](self, topic, nuggets)
            yield json.dumps(value).encode() + b"\n"

    def _lose(self, nuggets: tuple[Nugget, ...], *names: str) -> None:
        """Count the fields of nuggets that are not written."""
        empty = Nugget("", "", "")
        for name in names:
            count = sum(getattr(nugget, name) != getattr(empty, name) for nugget in nuggets)
            if count:
                self.lost[name] += count

    def whole(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        """Everything, for this program alone."""
        named = {"topic_id": topic, "query": self.bank.titles.get(topic, "")}
        return {**named, WHOLE: [pack_nugget(nugget) for nugget in nuggets]}

    def nuggetizer(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        names = ("answers", "documents", "parent", "weight", "grade", "operator", "originals")
        self._lose(nuggets, *names)
        written: list[dict[str, object]] = []
        for nugget in nuggets:
            part: dict[str, object] = {
                "text": nugget.text,
                "importance": nugget.importance or "okay",
            }
            if nugget.group is not None:
                part["mapped_sub_narrative"] = nugget.group
            if nugget.origin:
                part["source"] = nugget.origin
            if nugget.key != f"{topic}-{len(written) + 1}":
                part["id"] = nugget.key
            written.append(part)
        return {"query": self.bank.titles.get(topic, ""), "qid": topic, "nuggets": written}

    def nuggetbank(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        self._lose(nuggets, "group", "parent", "weight", "grade", "originals")
        questions = {n.text: self._question(n) for n in nuggets if n.kind == "question"}
        claims = {n.text: self._claim(n) for n in nuggets if n.kind != "question"}
        if repeated := len(nuggets) - len(questions) - len(claims):
            self.lost["nuggets with one text"] += repeated
        return {
            "query_id": topic,
            "title_query": self.bank.titles.get(topic, ""),
            "format_version": "v3",
            "nugget_bank": questions,
            "claim_bank": claims,
        }

    def _question(self, nugget: Nugget) -> dict[str, object]:
        written = {
            "question": nugget.text,
            "question_id": nugget.key,
            "query_id": nugget.topic,
            "answers": {answer.text: _accepted(answer) for answer in nugget.answers},
            "aggregator_type": nugget.operator,
        }
        return {**written, **_importance(nugget), **_creator(nugget)}

    def _claim(self, nugget: Nugget) -> dict[str, object]:
        written = {
            "claim": nugget.text,
            "claim_id": nugget.key,
            "query_id": nugget.topic,
            "references": [{"doc_id": docno} for docno in nugget.documents],
        }
        return {**written, **_importance(nugget), **_creator(nugget)}

    def argue(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        names = (
            "documents",
            "group",
            "parent",
            "weight",
            "grade",
            "operator",
            "origin",
            "originals",
        )
        self._lose(nuggets, *names)
        items = [
            {
                "query_id": topic,
                "info": {"importance": nugget.importance or "NA", "used": False},
                "question_id": nugget.key,
                "question_text": nugget.text,
                "gold_answers": [_gold(answer) for answer in nugget.answers],
            }
            for nugget in nuggets
        ]
        return {"query_id": topic, "query_text": self.bank.titles.get(topic, ""), "items": items}

    def dragun(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        self._lose(
            nuggets, "answers", "documents", "group", "grade", "operator", "origin", "originals"
        )
        questions: dict[str, list[Nugget]] = {}
        for nugget in nuggets:
            questions.setdefault(nugget.parent or nugget.key, []).append(nugget)
        return {
            "topic_id": topic,
            "rubrics": [
                {
                    "question_id": key,
                    "question": answers[0].question or answers[0].text,
                    "importance": _letter(answers[0]),
                    "short_answers": [{"answer_id": n.key, "answer": n.text} for n in answers],
                }
                for key, answers in questions.items()
            ],
        }

    def annotation(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        names = (
            "documents",
            "parent",
            "weight",
            "grade",
            "importance",
            "operator",
            "origin",
            "originals",
        )
        self._lose(nuggets, *names)
        return {
            "query_id": topic,
            "nugget_list": [
                [nugget.text, {answer.text: list(answer.documents) for answer in nugget.answers}]
                for nugget in nuggets
            ],
            "group_assignment": {n.text: n.group for n in nuggets if n.group is not None},
        }

    def cone(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        names = (
            "answers",
            "documents",
            "group",
            "parent",
            "weight",
            "importance",
            "origin",
            "originals",
        )
        self._lose(nuggets, *names)
        return {
            topic: {
                nugget.key: {
                    "text": nugget.text,
                    **({} if nugget.grade is None else {"relevance": str(nugget.grade)}),
                }
                for nugget in nuggets
            }
        }

    def rubric(self, topic: str, nuggets: tuple[Nugget, ...]) -> dict[str, object]:
        names = (
            "answers",
            "documents",
            "parent",
            "grade",
            "importance",
            "operator",
            "origin",
            "originals",
        )
        self._lose(nuggets, *names)
        return {
            "qid": topic,
            "rubrics": [
                {
                    "criterion": nugget.text,
                    "weight": 1.0 if nugget.weight is None else nugget.weight,
                    **({} if nugget.group is None else {"axis": nugget.group}),
                }
                for nugget in nuggets
            ],
        }


def _letter(nugget: Nugget) -> str:
    """Return the importance in the words of DRAGUN; vital nuggets are what one has to know."""
    if nugget.importance[:1] in ("A", "B", "C"):
        return nugget.importance
    return "A: Have to Know" if nugget.is_vital else "B: Good to Know"


def _gold(answer: AcceptedAnswer) -> str | dict[str, object]:
    if not answer.documents:
        return answer.text
    return {"answer": answer.text, "citations": list(answer.documents)}


def _accepted(answer: AcceptedAnswer) -> dict[str, object]:
    spans = {span.docno: span for span in answer.spans}
    references = []
    for docno in answer.documents:
        reference: dict[str, object] = {"doc_id": docno}
        if docno in spans:
            start, end = spans[docno].start, spans[docno].end
            reference["offsets"] = {"start_offset": start, "end_offset": end, "encoding": "utf-8"}
        references.append(reference)
    return {"answer": answer.text, **({"references": references} if references else {})}


def _importance(nugget: Nugget) -> dict[str, object]:
    return {"importance": nugget.importance} if nugget.importance else {}


def _creator(nugget: Nugget) -> dict[str, object]:
    if not nugget.origin:
        return {}
    if nugget.origin == PEOPLE:
        return {"creator": [{"is_human": True}]}
    made_by = nugget.origin.removesuffix(EDITED).removesuffix(", ")
    machine = {"is_human": False, "llm_model": made_by.removeprefix("machine").strip()}
    is_edited = nugget.origin.endswith(EDITED)
    return {"creator": [machine, {"is_human": True}] if is_edited else [machine]}


WRITERS: dict[str, Callable[[NuggetWriter, str, tuple[Nugget, ...]], dict[str, object]]] = {
    "whole": NuggetWriter.whole,
    "nuggetizer": NuggetWriter.nuggetizer,
    "nuggetbank": NuggetWriter.nuggetbank,
    "argue": NuggetWriter.argue,
    "annotation": NuggetWriter.annotation,
    "dragun": NuggetWriter.dragun,
    "cone": NuggetWriter.cone,
    "rubric": NuggetWriter.rubric,
}
