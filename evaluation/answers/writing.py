"""Writing of answer runs in the dialects of tracks, with what is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from evaluation.answers.drafts import TOPIC_TEXTS
from evaluation.answers.lengths import count_words_nfkc
from evaluation.answers.runs import Answer, AnswerRun, Cited, Sentence


@dataclass
class AnswerWriter:
    """What writes one run; `lost` counts what the dialect has no place for.

    `texts` are the texts of the topics, which some dialects repeat.
    """

    run: AnswerRun
    dialect: str
    texts: Mapping[str, str] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[bytes]:
        """Yield a JSON object for each answer.

        >>> from evaluation.problems import Problems
        >>> answer = Answer("t1", (Sentence("Cedar.", (Cited("d1"),)),))
        >>> run = AnswerRun("oak", "argue", {"t1": answer}, Problems())
        >>> print(*AnswerWriter(run, "rag24").lines())
        b'{"run_id": "oak", "topic_id": "t1", "topic": "", "references": ["d1"], \
"response_length": 1, "answer": [{"text": "Cedar.", "citations": [0]}]}\\n'
        """
        for answer in self.run.answers.values():
            self._lose(answer)
            yield json.dumps(WRITERS[self.dialect](self, answer)).encode() + b"\n"

    def _lose(self, answer: Answer) -> None:
        """Count what none of the dialects that are written has."""
        self._count("confidence of answers", answer.confidence is not None)
        self._count("states of answers", answer.status not in ("", "completed"))
        self._count("quoted nuggets", len(answer.quoted))
        sentences = answer.sentences
        self._count("contradicted citations", sum(len(s.contradicted) for s in sentences))
        self._count("citations that were given", sum(len(s.existing) for s in sentences))
        if self.dialect != "ikat25":
            scored = sum(each.score is not None for each in answer.references or ())
            self._count("scores of references", scored)
        if self.dialect in ("rag24", "rag"):
            weighted = (each.weight is not None for s in sentences for each in s.citations)
            self._count("weights of citations", sum(weighted))

    def _count(self, what: str, count: int) -> None:
        if count:
            self.lost[what] += count

    def _topic_text(self, answer: Answer) -> str:
        given = (answer.extra.get(name) for name in TOPIC_TEXTS)
        own = next((text for text in given if isinstance(text, str)), "")
        return self.texts.get(answer.topic) or own

    def _metadata(self, answer: Answer, **names: object) -> dict[str, object]:
        """Return run, topic and everything else that was stated."""
        known = {"run_id": self.run.name, **names}
        return {**known, **{k: v for k, v in answer.extra.items() if k not in known}}

    def common(self, answer: Answer) -> dict[str, object]:
        responses = [
            {"text": sentence.text, "citations": _plain_or_weighted(sentence.citations)}
            for sentence in answer.sentences
        ]
        written: dict[str, object] = {
            "metadata": self._metadata(answer, topic_id=answer.topic),
            "responses": responses,
        }
        if answer.references is not None:
            written["references"] = [each.docno for each in answer.references]
        return written

    def rag(self, answer: Answer) -> dict[str, object]:
        metadata = self._metadata(answer, narrative_id=answer.topic)
        if text := self._topic_text(answer):
            metadata["narrative"] = text
        if metadata.get("narrative") == metadata.get("topic"):
            metadata.pop("topic", None)
        return {
            "metadata": metadata,
            "references": self._references(answer),
            "answer": [
                {"text": s.text, "citations": [each.docno for each in s.citations]}
                for s in answer.sentences
            ],
        }

    def rag24(self, answer: Answer) -> dict[str, object]:
        for name in answer.extra.keys() - {*TOPIC_TEXTS}:
            self._count(f"the field {name}", 1)
        references = self._references(answer)
        place = {docno: number for number, docno in reversed([*enumerate(references)])}
        return {
            "run_id": self.run.name,
            "topic_id": answer.topic,
            "topic": self._topic_text(answer),
            "references": references,
            "response_length": count_words_nfkc(answer.texts),
            "answer": [
                {"text": s.text, "citations": [place[each.docno] for each in s.citations]}
                for s in answer.sentences
            ],
        }

    def _references(self, answer: Answer) -> list[str]:
        """Return the references with what is cited besides, which then has a position."""
        given = [each.docno for each in answer.references or ()]
        known = {*given}
        missing = dict.fromkeys(docno for docno in answer.cited() if docno not in known)
        return [*given, *missing]

    def ikat25(self, answer: Answer) -> dict[str, object]:
        metadata = self._metadata(answer)
        provenance = metadata.pop("ptkb_provenance", None)
        run_type = next((metadata.pop(n) for n in ("run_type", "type") if n in metadata), None)
        if run_type is not None:
            metadata["run_type"] = run_type
        given = self._references(answer)
        references = dict.fromkeys(given)
        self._count("repeated references", len(given) - len(references))
        scores = {each.docno: each.score for each in reversed(answer.references or ())}
        numbers = provenance if isinstance(provenance, list) else []
        return {
            "metadata": metadata,
            "turn_id": answer.topic,
            "references": self._numbered({docno: scores.get(docno) for docno in references}),
            "responses": [
                {
                    "text": s.text,
                    "citations": self._weighted(s),
                    "ptkb_provenance": numbers[place] if place < len(numbers) else [],
                }
                for place, s in enumerate(answer.sentences)
            ],
        }

    def _weighted(self, sentence: Sentence) -> dict[str, float]:
        weights = {each.docno: each.weight for each in reversed(sentence.citations)}
        self._count("repeated citations", len(sentence.citations) - len(weights))
        in_order = dict.fromkeys(each.docno for each in sentence.citations)
        return self._numbered({docno: weights[docno] for docno in in_order})

    def _numbered(self, values: Mapping[str, float | None]) -> dict[str, float]:
        """Return the values; where one is missing, k ... 1 instead, so that the order stays."""
        given = {docno: value for docno, value in values.items() if value is not None}
        if len(given) == len(values):
            return given
        return {docno: float(len(values) - place) for place, docno in enumerate(values)}


def _plain_or_weighted(citations: tuple[Cited, ...]) -> list[str] | dict[str, float]:
    weights = {each.docno: each.weight for each in citations if each.weight is not None}
    if citations and len(weights) == len(citations):
        return weights
    return [each.docno for each in citations]


WRITERS: dict[str, Callable[[AnswerWriter, Answer], dict[str, object]]] = {
    "common": AnswerWriter.common,
    "rag": AnswerWriter.rag,
    "rag24": AnswerWriter.rag24,
    "ikat25": AnswerWriter.ikat25,
}
