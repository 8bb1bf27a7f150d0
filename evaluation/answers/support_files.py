"""Reading of support marks: does a document say what a sentence says, from files of many tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from evaluation.answers.assignment_files import RUNS, TOPICS, WHOLE, columns_of_marks
from evaluation.answers.findings import Findings
from evaluation.answers.labels import SUPPORTS, UNJUDGED, read_support_label
from evaluation.answers.marks import PEOPLE, OfAnswer, SupportLayer
from evaluation.answers.nugget_files import stated
from evaluation.answers.objects import read_objects
from evaluation.answers.opinions import KEY, Opinions, label_of, named_by_prompt, report_label
from evaluation.answers.runs import Answer, Cited, Sentence
from evaluation.reading.lines import first_bytes, in_line_order
from evaluation.settlement import Rule

Fields: TypeAlias = Mapping[str, object]


@dataclass
class SupportCollector:
    """The support marks read so far."""

    findings: Findings
    opinions: Opinions = field(init=False)
    by_place: dict[OfAnswer, dict[tuple[int, str], int]] = field(default_factory=dict)
    by_text: dict[tuple[str, bytes], dict[str, int]] = field(default_factory=dict)
    needs: dict[OfAnswer, dict[int, bool]] = field(default_factory=dict)
    runs: dict[str, dict[str, Answer]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.opinions = Opinions(self.findings, SUPPORTS)

    def add(self, line: int, of_answer: OfAnswer, sentence: int, docno: str, label: object) -> None:
        code = read_support_label(label)
        if code is None:
            report_label(self.findings, line, label)
            return
        marks = self.by_place.setdefault(of_answer, {})
        if marks.get((sentence, docno), UNJUDGED) != UNJUDGED:
            run, topic = of_answer
            message = f"{docno} is marked twice for sentence {sentence} of {run}, topic {topic}"
            self.findings.error("E_DUP_MARK", line, message, topic=topic, sentence=sentence)
        marks[sentence, docno] = code

    def add_settled(self) -> None:
        """Add what counts of the opinions."""
        for topic, pair, code in self.opinions.settled():
            key, _, docno = pair.partition("\n")
            self.by_text.setdefault((topic, bytes.fromhex(key)), {})[docno] = code


def read_support(file: BinaryIO, *, run: str = "", rule: Rule = "first") -> SupportLayer:
    """Read the support marks of one layer: columns, JSON by answer, labels of BioGen, our marks.

    Raises `Refused` with every problem, as `read_assignments` does.

    >>> from io import BytesIO
    >>> layer = read_support(BytesIO(b"oak t1 1 d1 FS\\noak t1 1 d2 -1\\n"))
    >>> layer.by_place["oak", "t1"]
    {(1, 'd1'): 2, (1, 'd2'): 255}
    """
    collected = SupportCollector(Findings())
    collected.opinions.rule = rule
    findings = collected.findings
    if first_bytes(file).startswith((b"{", b"[")):
        for item in read_objects(file, findings):
            _read_support_object(item.line, item.value, collected, run)
    else:
        _read_support_columns(file, collected)
    collected.add_settled()
    if not (collected.by_place or collected.by_text or collected.runs or findings.errors):
        findings.error("E_EMPTY", None, "the file has no marks")
    findings.fold()
    in_line_order(findings).raise_if_refused()
    return SupportLayer(
        collected.opinions.origin or PEOPLE,
        collected.by_place,
        collected.by_text,
        findings,
        collected.needs,
        collected.runs,
        collected.opinions.marks,
        collected.opinions.confidences,
    )


def _read_support_columns(file: BinaryIO, collected: SupportCollector) -> None:
    for number, text in columns_of_marks(file, collected.findings):
        columns = text.split(None, 4)
        if len(columns) < 5 or not WHOLE.fullmatch(columns[2]):
            message = "a mark has five columns: run topic sentence docno label"
            collected.findings.error("E_COLUMNS", number, message, text)
            continue
        run, topic, sentence, docno, label = columns
        collected.add(number, (run, topic), int(sentence), docno, label)


def _read_support_object(line: int, fields: Fields, collected: SupportCollector, run: str) -> None:
    fields = named_by_prompt(fields)
    inner = fields.get("metadata")
    metadata = inner if isinstance(inner, dict) else {}
    topic = stated(fields, *TOPICS) or stated(metadata, *TOPICS)
    of_answer = stated(fields, *RUNS) or stated(metadata, *RUNS) or run, topic
    sentences = fields.get("sentences", fields.get("answer"))
    if not topic:
        collected.findings.error("E_FIELD", line, "the topic is missing")
    elif isinstance(sentences, list):
        for number, part in enumerate(sentences, 1):
            if isinstance(part, dict):
                _read_sentence(line, of_answer, number, part, collected)
        _keep_answer(of_answer, sentences, collected)
    elif "labels" in fields and "docno" not in fields:
        _read_biogen(line, of_answer, fields, collected)
    elif stated(fields, "about") in ("", "support"):
        _read_mark(line, topic, fields, collected)


def _read_sentence(
    line: int, of_answer: OfAnswer, number: int, part: Fields, collected: SupportCollector
) -> None:
    """Read the marks of one sentence: of its citations, by docno, or as BioGen labels them."""
    citations = part.get("citations")
    for each in citations if isinstance(citations, list) else []:
        if isinstance(each, dict) and "docno" in each:
            label = each.get("support", each.get("label", -1))
            collected.add(line, of_answer, number, stated(each, "docno"), label)
    for name in ("supported_citations_labels", "contradicted_citations_labels"):
        labels = part.get(name)
        for docno, label in labels.items() if isinstance(labels, dict) else ():
            collected.add(line, of_answer, number, docno, label)
    if "needs_citation" in part:
        needed = bool(part["needs_citation"]) and bool(part.get("first", True))
        collected.needs.setdefault(of_answer, {})[number] = needed


def _keep_answer(of_answer: OfAnswer, parts: list[object], collected: SupportCollector) -> None:
    """Keep the answer beside its marks, so that it can be scored without its run."""
    run, topic = of_answer
    sentences = [_sentence_of(part) for part in parts if isinstance(part, dict)]
    collected.by_place.setdefault(of_answer, {})
    collected.runs.setdefault(run, {})[topic] = Answer(topic, tuple(sentences))


def _sentence_of(part: Fields) -> Sentence:
    return Sentence(
        stated(part, "text"),
        _cited(part.get("citations", part.get("supported_citations"))),
        _cited(part.get("contradicted_citations")),
    )


def _cited(citations: object) -> tuple[Cited, ...]:
    listed = citations if isinstance(citations, list) else []
    docnos = (stated(c, "docno") if isinstance(c, dict) else str(c) for c in listed)
    return tuple(Cited(docno) for docno in docnos)


def _read_biogen(
    line: int, of_answer: OfAnswer, fields: Fields, collected: SupportCollector
) -> None:
    """Read one sentence of BioGen with the labels of its judged documents."""
    run, topic = of_answer
    number = stated(fields, "sentence")
    answers = collected.runs.setdefault(run, {})
    before = answers[topic].sentences if topic in answers else ()
    place = int(number) if WHOLE.fullmatch(number) else len(before) + 1
    filled = (*before, *(Sentence("") for _ in range(place - len(before))))
    sentences = [*filled[: place - 1], _sentence_of(fields), *filled[place:]]
    answers[topic] = Answer(topic, tuple(sentences))
    collected.by_place.setdefault(of_answer, {})
    labels = fields["labels"]
    for docno, label in labels.items() if isinstance(labels, dict) else ():
        collected.add(line, of_answer, place, docno, label)


def _read_mark(line: int, topic: str, fields: Fields, collected: SupportCollector) -> None:
    """Read a mark of ours: a sentence by the key of its text, a document, a label."""
    key, docno = stated(fields, "sentence"), stated(fields, "docno")
    if KEY.fullmatch(key) and docno:
        collected.opinions.add(line, topic, f"{key}\n{docno}", fields, label_of(fields))
    else:
        message = "a mark has the key of a sentence and a docno"
        collected.findings.error("E_FIELD", line, message)
