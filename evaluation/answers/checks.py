"""Checks of drafts against the rules of a track; every problem has its line and its topic."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from evaluation.answers.drafts import DIGITS, Draft, DraftSentence
from evaluation.answers.findings import Findings
from evaluation.answers.lengths import NAMES, UNITS, count_fitting
from evaluation.answers.repairs import limit_of, unit_of_length_field
from evaluation.answers.rules import WEIGHT_RANGES, AnswerRules
from evaluation.phrases import counted
from evaluation.problems import FEW
from evaluation.reading.columns import check_identifier, is_identifier
from evaluation.reading.hints import hint_for_unknown_topic
from evaluation.reading.repairs import TAG, TAG_RULE

# A character that no text has: NUL and other control characters, and half of a pair.
UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
# From this share of this many answers on, citations were probably forgotten.
MANY_WITHOUT, ENOUGH_ANSWERS = 0.4, 5
LISTED = 10


@dataclass
class AnswerChecks:
    """The checks of one run, and what they remember of the answers before."""

    rules: AnswerRules
    findings: Findings
    run: str = ""
    line_of: dict[str, int] = field(default_factory=dict)
    smallest: tuple[int, int] | None = None
    num_positions: int = 0
    num_docnos: int = 0
    first_mixed: int = 0
    num_with_texts: int = 0
    first_with_texts: int = 0
    num_with_sentences: int = 0
    num_without_citation: int = 0

    def check(self, draft: Draft) -> None:
        """Collect all problems of one answer."""
        self._names(draft)
        self._topic(draft)
        self._references(draft)
        known = None if draft.references is None else {each.docno for each in draft.references}
        for number, sentence in enumerate(draft.sentences, 1):
            self._sentence(draft, number, sentence, known)
        self._whole(draft)
        self._length(draft)
        self._count(draft)

    def _error(
        self,
        draft: Draft,
        code: str,
        message: str,
        hint: str = "",
        fix: str = "",
        sentence: int | None = None,
        is_warning: bool = False,
    ) -> None:
        collect = self.findings.warn if is_warning else self.findings.error
        code = f"W{code[1:]}" if is_warning else code
        collect(code, draft.line, message, hint=hint, fix=fix, topic=draft.topic, sentence=sentence)

    # Names of the run, of topics and documents.

    def _names(self, draft: Draft) -> None:
        if draft.run and not TAG.fullmatch(draft.run.encode("utf-8", "replace")):
            if not self.run:
                hint = TAG_RULE[:1].upper() + TAG_RULE[1:] + "."
                message = "the run name has other characters than run tags have"
                self.findings.error("E_TAG", draft.line, message, draft.run, hint)
        elif self.run and draft.run != self.run:
            message = f"the run is called {draft.run or 'nothing'} here and {self.run} before"
            self._error(draft, "E_TAG", message, f"Use {self.run} everywhere?", "tag")
        self.run = self.run or draft.run
        kinds = self.rules.run_types
        if kinds and draft.run_type is not None and draft.run_type not in kinds:
            message = f'type "{draft.run_type[:40]}" is not one of {", ".join(kinds)}'
            self._error(draft, "E_RUN_TYPE", message)

    def _topic(self, draft: Draft) -> None:
        topics = self.rules.topics
        name = draft.topic.encode("utf-8", "surrogatepass")
        if not draft.topic or not check_identifier(
            "topic", "E_TOPIC", draft.line, name, self.findings
        ):
            return
        if topics is not None and draft.topic not in topics:
            message = f"topic {draft.topic} is not in this track"
            hint = self._hint(name) or "Ignore this answer?"
            self._error(draft, "E_UNKNOWN_TOPIC", message, hint, "topics")
        if draft.topic in self.line_of:
            message = f"topic {draft.topic} was answered in line {self.line_of[draft.topic]}"
            self._error(draft, "E_DUP_TOPIC", message, "Keep the first answer?", "keep-first")
        self.line_of.setdefault(draft.topic, draft.line)
        known = (topics or {}).get(draft.topic)
        if known is None:
            return
        if self.rules.echo != "ignore" and known.text and draft.topic_text is not None:
            self._echo(draft, known.text)
        if known.sentences is not None:
            self._given(draft, known.sentences)

    def _hint(self, topic: bytes) -> str:
        """Return which topic may be meant; for the first problems only, as it takes long."""
        if self.findings.counts["E_UNKNOWN_TOPIC"] >= FEW:
            return ""
        return hint_for_unknown_topic(topic, {name.encode() for name in self.rules.topics or ()})

    def _echo(self, draft: Draft, expected: str) -> None:
        written = draft.topic_text or ""
        if written != expected:
            pairs = zip(written, expected, strict=False)
            same = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
            place = min(len(written), len(expected)) if same is None else same
            message = f"the topic text differs from the track's at character {place + 1}"
            is_warning = self.rules.echo == "warn"
            hint = "Copy the track's text?"
            self._error(draft, "E_TOPIC_TEXT", message, hint, "topic-text", None, is_warning)

    def _given(self, draft: Draft, given: tuple[str, ...]) -> None:
        texts = draft.texts
        for number, text in enumerate(given, 1):
            if number > len(texts) or texts[number - 1] != text:
                message = f"sentence {number} is not the given sentence"
                hint = "Copy the given text?"
                self._error(draft, "E_SENTENCE_CHANGED", message, hint, "topic-text", number)
        if len(texts) > len(given):
            message = f"there are {len(texts)} sentences, but only {len(given)} were given"
            self._error(draft, "E_SENTENCE_CHANGED", message)

    def _references(self, draft: Draft) -> None:
        references = draft.references or []
        most = self.rules.most_references
        if most is not None and len(references) > most:
            message = f"{len(references):,} references, at most {most:,} are allowed"
            hint = f"Keep the first {most:,} and drop citations of others?"
            self._error(draft, "E_MANY_REFERENCES", message, hint, "keep-first")
        docnos = [each.docno for each in references]
        for docno in dict.fromkeys(docnos):
            self._docno(draft, docno)
        for docno, often in _repeated(docnos):
            self._repeated_reference(draft, docno, often)

    def _repeated_reference(self, draft: Draft, docno: str, often: str) -> None:
        """The code is the same for an error and a warning, as both change what positions mean."""
        is_error = self.rules.repeated_references == "error"
        collect = self.findings.error if is_error else self.findings.warn
        collect(
            "E_DUP_REFERENCE",
            draft.line,
            f"{docno} is in references {often}",
            hint="Keep the first?",
            fix="repeated",
            topic=draft.topic,
        )

    def _docno(self, draft: Draft, docno: str, sentence: int | None = None) -> None:
        name = docno.encode("utf-8", "surrogatepass")
        if not is_identifier(name):
            check_identifier("docno", "E_DOCID", draft.line, name, self.findings)
            return
        docnos, pattern = self.rules.docnos, self.rules.pattern
        if docnos is not None:
            is_known, message = name in docnos, f"the collection has no document {docno}"
        else:
            is_known = not pattern or bool(re.fullmatch(pattern, docno))
            message = f"{docno} is not written as docnos of the collection are"
        if not is_known:
            is_warning = self.rules.unknown_documents == "warn"
            self._error(draft, "E_UNKNOWN_DOC", message, "", "", sentence, is_warning)

    # Sentences and their citations.

    def _sentence(
        self, draft: Draft, number: int, sentence: DraftSentence, known: set[str] | None
    ) -> None:
        text = sentence.text
        if not text.strip():
            message = f"sentence {number} has no text"
            self._error(draft, "E_EMPTY_SENTENCE", message, "Remove it?", "empty", number)
        elif not (text.isascii() and text.isprintable()) and (unwanted := UNWANTED.search(text)):
            message = f"the text has the character U+{ord(unwanted[0]):04X}"
            self._error(draft, "E_CHAR", message, sentence=number)
        for citations in (sentence.citations, sentence.contradicted):
            targets = [pointer.target for pointer in citations]
            self._targets(draft, number, targets, known)
            most = self.rules.most_citations
            if most is not None and len(targets) > most:
                message = f"{len(targets):,} citations, at most {most:,} are allowed"
                hint = f"Keep the first {most:,}?"
                self._error(draft, "E_MANY_CITATIONS", message, hint, "keep-first", number)
        for pointer in sentence.citations:
            self._weight(draft, number, pointer.weight)
        given = {*sentence.existing}
        for pointer in (*sentence.citations, *sentence.contradicted):
            if pointer.target in given:
                message = f"PMID {pointer.target} was given with the sentence and must not be"
                message += " repeated"
                self._error(draft, "E_EXISTING", message, "Remove it?", "repeated", number)

    def _targets(
        self, draft: Draft, number: int, targets: list[int | str], known: set[str] | None
    ) -> None:
        """Check that citations have documents, and each of them once."""
        docnos = []
        for target in targets:
            docno = draft.docno_of(target)
            if docno is None:
                if not draft.lacks_references:
                    self._position(draft, number, int(target))
                continue
            docnos.append(docno)
            if isinstance(target, str) and (known is None or docno not in known):
                self._docno(draft, docno, number)
                if known is not None:
                    self._unresolved(draft, number, docno)
        for docno, count in _repeated(docnos):
            message = f"{docno} is cited {count}"
            hint = "Keep the first?"
            self._error(draft, "E_DUP_CITATION", message, hint, "repeated", number, True)

    def _position(self, draft: Draft, number: int, position: int) -> None:
        count = len(draft.references or ())
        what = counted(count, "reference")
        there = f"there {'is' if count == 1 else 'are'} only {what} (0 to {count - 1})"
        message = f"citation {position}, but {there if count else 'there are no references'}"
        self._error(
            draft, "E_CITATION", message, "Remove the citation?", "unresolved", sentence=number
        )

    def _unresolved(self, draft: Draft, number: int, docno: str) -> None:
        message = f"{docno} is cited but not in references"
        is_position = draft.dialect in ("rag", "common") and DIGITS.fullmatch(docno)
        hint, fix = "Add it to the references?", "add-references"
        if is_position and int(docno) < len(draft.references or ()):
            hint, fix = "Is it a position?", "docnos"
        is_warning = draft.dialect == "browsecomp"
        self._error(draft, "E_UNRESOLVED", message, hint, fix, number, is_warning)

    def _weight(self, draft: Draft, number: int, weight: float | None) -> None:
        highest = WEIGHT_RANGES.get(self.rules.weights)
        if weight is not None and highest is not None and not 0 <= weight <= highest:
            message = f"a weight of {weight:g} is outside 0 to {highest:g}"
            hint = f"Limit weights to 0 to {highest:g}?"
            self._error(draft, "E_WEIGHT_RANGE", message, hint, "weights", number, True)

    # The answer as a whole.

    def _whole(self, draft: Draft) -> None:
        if not draft.sentences and self.rules.empty_answers == "error":
            self._error(draft, "E_NO_ANSWER", "the answer has no sentence")
        if self.rules.references_are_cited and draft.references is not None:
            cited = {docno for sentence in draft.sentences for docno in draft.cited(sentence)}
            idle = [each.docno for each in draft.references if each.docno not in cited]
            if idle:
                are = "is" if len(idle) == 1 else "are"
                message = f"{_listed(idle)} {are} in references but never cited"
                hint = "Make the references the cited documents?"
                self._error(draft, "E_REFERENCES_DIFFER", message, hint, "cited-set")
        if draft.status not in ("", "completed"):
            message = f'topic {draft.topic} has the status "{draft.status[:40]}"'
            self._error(draft, "E_FAILED", message, is_warning=True)
        if (
            self.rules.confidence == "required"
            and draft.confidence is None
            and draft.dialect != "r2c2"
        ):
            self._error(draft, "E_CONFIDENCE", f"topic {draft.topic} has no confidence")

    def _length(self, draft: Draft) -> None:
        rules, texts = self.rules, draft.texts
        limit = limit_of(draft.topic, rules)
        if limit is not None and (length := UNITS[rules.unit](texts)) > limit:
            fitting = count_fitting(texts, rules.unit, limit)
            cut = counted(len(texts) - fitting, "sentence")
            rest = UNITS[rules.unit](texts[:fitting])
            message = f"{length:,} {NAMES[rules.unit]}; the limit is {limit:,}."
            message += f" Without the last {cut} it has {rest:,}"
            is_warning = rules.over != "refuse"
            self._error(draft, "E_TOO_LONG", message, f"Cut {cut}?", "cut", None, is_warning)
        if draft.length is not None:
            words = UNITS[unit_of_length_field(rules)](texts)
            if draft.length != words:
                message = f"response_length is {draft.length:,}, but the text has {words:,} words"
                hint = f"Write {words:,}?"
                self._error(draft, "E_LENGTH_FIELD", message, hint, "length", is_warning=True)

    def _count(self, draft: Draft) -> None:
        """Remember what is a problem of the whole run only."""
        targets = [p.target for sentence in draft.sentences for p in sentence.citations]
        positions = [target for target in targets if isinstance(target, int)]
        self.num_positions += len(positions)
        self.num_docnos += len(targets) - len(positions)
        if positions:
            lowest = min(positions)
            if self.smallest is None or lowest < self.smallest[0]:
                self.smallest = lowest, draft.line
        if not self.first_mixed and self.num_positions and self.num_docnos:
            self.first_mixed = draft.line
        if draft.has_texts:
            self.first_with_texts = self.first_with_texts or draft.line
            self.num_with_texts += 1
        self.num_with_sentences += bool(draft.sentences)
        self.num_without_citation += bool(draft.sentences) and not (
            targets or draft.quoted or any(s.contradicted for s in draft.sentences)
        )

    # The run as a whole.

    def finish(self, dialect: str) -> None:
        """Collect the problems that only the whole run has."""
        self._missing_topics()
        if self.smallest is not None and self.smallest[0] == 1 and self.num_positions > 1:
            message = "positions begin at 1 and never use 0: are they counted from 1?"
            hint = "Subtract 1 everywhere?"
            self.findings.warn("W_ONE_BASED", self.smallest[1], message, hint=hint, fix="one-based")
        if self.first_mixed and not self.rules.may_mix:
            message = "positions and docnos are mixed in this file"
            hint = "Write docnos everywhere?"
            self.findings.warn("W_MIXED", self.first_mixed, message, hint=hint, fix="docnos")
        if self.num_with_texts:
            message = "texts of documents in the run are ignored"
            line, count = self.first_with_texts, self.num_with_texts
            hint = "Remove them?"
            self.findings.warn(
                "W_DOCUMENTS", line, message, hint=hint, count=count, fix="documents"
            )
        share = self.num_without_citation / (self.num_with_sentences or 1)
        is_odd = share >= MANY_WITHOUT and self.num_with_sentences >= ENOUGH_ANSWERS
        if is_odd and dialect != "questions":
            message = f"{share:.0%} of the answers cite nothing".replace("%", " %")
            self.findings.warn("W_NO_CITATION", None, message)
        if not self.line_of and not self.findings.errors:
            self.findings.error("E_EMPTY", None, "the file has no answers")

    def _missing_topics(self) -> None:
        missing = [topic for topic in self.rules.topics or () if topic not in self.line_of]
        if missing:
            have = "topic has" if len(missing) == 1 else "topics have"
            message = f"{len(missing):,} {have} no answer: {_listed(missing)}"
            is_warning = self.rules.missing_topics == "warn"
            collect = self.findings.warn if is_warning else self.findings.error
            collect(f"{'W' if is_warning else 'E'}_MISSING_TOPIC", None, message)


def _repeated(names: list[str]) -> list[tuple[str, str]]:
    """Return the names that are repeated, and how often in words."""
    if len({*names}) == len(names):
        return []
    times = Counter(names)
    return [(n, "twice" if c == 2 else f"{c:,} times") for n, c in times.items() if c > 1]


def _listed(names: list[str]) -> str:
    more = f", and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
