"""Repairs of answers, made only on request; each change is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evaluation.answers.drafts import DIGITS, Draft, DraftSentence, Pointer
from evaluation.answers.lengths import UNITS, Unit, count_fitting
from evaluation.answers.rules import WEIGHT_RANGES, AnswerRules
from evaluation.answers.runs import Reference
from evaluation.reading.repairs import match_known_topics


@dataclass
class AnswerRepairs:
    """The repairs that were asked for; `counts` says how often each changed something."""

    rules: AnswerRules
    counts: Counter[str] = field(default_factory=Counter)
    run: str = ""
    answered: set[str] = field(default_factory=set)

    def repair(self, draft: Draft) -> bool:
        """Change a draft in place; False for an answer that is to be ignored."""
        if not self.rules.fix:
            return True
        if not self._keep(draft):
            return False
        for name, repair in REPAIRS.items():
            if name in self.rules.fix:
                self.counts[name] += repair(draft, self.rules)
        self.counts += Counter()
        return True

    def _keep(self, draft: Draft) -> bool:
        """Repair the names of run and topic, and choose one of several answers to a topic."""
        fix, topics = self.rules.fix, self.rules.topics
        self.run = self.run or draft.run
        if "tag" in fix and draft.run != self.run:
            draft.run = self.run
            self.counts["tag"] += 1
        if "topics" in fix and topics is not None and draft.topic not in topics:
            self.counts["topics"] += 1
            known = {topic.encode() for topic in topics}
            ours = draft.topic.encode("utf-8", "replace")
            meant = match_known_topics([ours], known, {t.encode() for t in self.answered})
            if not meant:
                return False
            draft.topic = meant[ours].decode()
        if "keep-first" in fix and draft.topic in self.answered:
            self.counts["keep-first"] += 1
            return False
        self.answered.add(draft.topic)
        return True


def write_docnos(draft: Draft) -> int:
    """Write docnos instead of positions, as far as there are references."""
    changed = 0
    for sentence in draft.sentences:
        for place, pointer in enumerate(sentence.citations):
            docno = draft.docno_of(pointer.target)
            if docno is not None and docno != pointer.target:
                sentence.citations[place] = pointer._replace(target=docno)
                changed += 1
    return changed


def _docnos(draft: Draft, rules: AnswerRules) -> int:
    """Write docnos; a text of digits that is no reference is a position."""
    known = {reference.docno for reference in draft.references or ()}
    for sentence in draft.sentences if known and draft.dialect in ("rag", "common") else ():
        sentence.citations = [
            pointer._replace(target=int(pointer.target))
            if isinstance(pointer.target, str)
            and pointer.target not in known
            and DIGITS.fullmatch(pointer.target)
            else pointer
            for pointer in sentence.citations
        ]
    return write_docnos(draft)


def _one_based(draft: Draft, rules: AnswerRules) -> int:
    changed = 0
    for sentence in draft.sentences:
        for place, pointer in enumerate(sentence.citations):
            if isinstance(pointer.target, int):
                sentence.citations[place] = pointer._replace(target=pointer.target - 1)
                changed += 1
    return changed


def _unresolved(draft: Draft, rules: AnswerRules) -> int:
    known = None if draft.references is None else {each.docno for each in draft.references}

    def is_resolved(pointer: Pointer) -> bool:
        docno = draft.docno_of(pointer.target)
        return docno is not None and (known is None or docno in known)

    return _keep_pointers(draft.sentences, is_resolved)


def _keep_pointers(sentences: Iterable[DraftSentence], keeps: Callable[[Pointer], bool]) -> int:
    removed = 0
    for sentence in sentences:
        kept = [pointer for pointer in sentence.citations if keeps(pointer)]
        removed += len(sentence.citations) - len(kept)
        sentence.citations = kept
    return removed


def _add_references(draft: Draft, rules: AnswerRules) -> int:
    if not _writes_only_docnos(draft):
        return 0
    references = draft.references or []
    known = {each.docno for each in references}
    missing = [docno for docno in _cited(draft) if docno not in known]
    if missing or (draft.references is None and rules.references != "optional"):
        draft.references = [*references, *map(Reference, missing)]
    return len(missing)


def _writes_only_docnos(draft: Draft) -> bool:
    """Write docnos; return whether no position is left that another reference would change."""
    write_docnos(draft)
    return all(isinstance(p.target, str) for s in draft.sentences for p in s.citations)


def _cited(draft: Draft) -> list[str]:
    """Return the cited docnos, each once, in the order of first citation."""
    return list(dict.fromkeys(d for s in draft.sentences for d in draft.cited(s)))


def _repeated(draft: Draft, rules: AnswerRules) -> int:
    """Keep the first of equal references and citations; positions follow their documents."""
    removed = 0
    if draft.references is not None:
        first = {each.docno: each for each in reversed(draft.references)}
        kept = [*dict.fromkeys(each.docno for each in draft.references)]
        if len(kept) < len(draft.references):
            removed += len(draft.references) - len(kept)
            write_docnos(draft)
            draft.references = [first[docno] for docno in kept]
    for sentence in draft.sentences:
        for name in ("citations", "contradicted"):
            pointers: list[Pointer] = getattr(sentence, name)
            seen: set[int | str] = {*sentence.existing}
            kept_pointers = []
            for pointer in pointers:
                target = draft.docno_of(pointer.target) or pointer.target
                if target not in seen:
                    kept_pointers.append(pointer)
                seen.add(target)
            removed += len(pointers) - len(kept_pointers)
            setattr(sentence, name, kept_pointers)
    return removed


def _keep_first(draft: Draft, rules: AnswerRules) -> int:
    removed = 0
    most = rules.most_references
    if draft.references is not None and most is not None and len(draft.references) > most:
        write_docnos(draft)
        gone = {each.docno for each in draft.references[most:]}
        removed += len(draft.references) - most
        draft.references = draft.references[:most]
        gone -= {each.docno for each in draft.references}
        _keep_pointers(draft.sentences, lambda pointer: pointer.target not in gone)
    per_sentence = rules.most_citations
    for sentence in draft.sentences if per_sentence is not None else ():
        for name in ("citations", "contradicted"):
            pointers: list[Pointer] = getattr(sentence, name)
            removed += len(pointers[per_sentence:])
            setattr(sentence, name, pointers[:per_sentence])
    return removed


def _cited_set(draft: Draft, rules: AnswerRules) -> int:
    if not _writes_only_docnos(draft):
        return 0
    scores = {each.docno: each for each in reversed(draft.references or [])}
    cited = _cited(draft)
    changed = len({*cited} ^ {*scores})
    if changed:
        draft.references = [scores.get(docno, Reference(docno)) for docno in cited]
    return changed


def _topic_text(draft: Draft, rules: AnswerRules) -> int:
    topic = (rules.topics or {}).get(draft.topic)
    if topic is None:
        return 0
    changed = 0
    if topic.text and draft.topic_text not in (None, topic.text):
        draft.extra = {
            name: topic.text if value == draft.topic_text else value
            for name, value in draft.extra.items()
        }
        draft.topic_text = topic.text
        changed += 1
    for sentence, given in zip(draft.sentences, topic.sentences or (), strict=False):
        changed += sentence.text != given
        sentence.text = given
    return changed


def _length(draft: Draft, rules: AnswerRules) -> int:
    counted = UNITS[unit_of_length_field(rules)](draft.texts)
    changed = draft.length is not None and draft.length != counted
    draft.length = counted if changed else draft.length
    return int(changed)


def unit_of_length_field(rules: AnswerRules) -> Unit:
    """Return the unit of `response_length`, which counts words."""
    return rules.unit if rules.unit.startswith("words") else "words-nfkc"


def _empty(draft: Draft, rules: AnswerRules) -> int:
    kept = [sentence for sentence in draft.sentences if sentence.text.strip()]
    removed = len(draft.sentences) - len(kept)
    draft.sentences = kept
    return removed


def _weights(draft: Draft, rules: AnswerRules) -> int:
    highest = WEIGHT_RANGES.get(rules.weights)
    changed = 0
    for sentence in draft.sentences if highest is not None else ():
        for place, pointer in enumerate(sentence.citations):
            if pointer.weight is not None and not 0 <= pointer.weight <= (highest or 0):
                within = min(max(pointer.weight, 0.0), highest or 0.0)
                sentence.citations[place] = pointer._replace(weight=within)
                changed += 1
    return changed


def _documents(draft: Draft, rules: AnswerRules) -> int:
    changed = draft.has_texts
    draft.has_texts = False
    return int(changed)


def cut_sentences(draft: Draft, rules: AnswerRules) -> int:
    """Cut sentences from the end to the limit; return how many."""
    limit = limit_of(draft.topic, rules)
    if limit is None:
        return 0
    fitting = count_fitting(draft.texts, rules.unit, limit)
    cut = len(draft.sentences) - fitting
    draft.sentences = draft.sentences[:fitting]
    return cut


def limit_of(topic: str, rules: AnswerRules) -> int | None:
    """Return the limit of a topic, or the one of the track."""
    known = (rules.topics or {}).get(topic)
    return known.limit if known is not None and known.limit is not None else rules.limit


# In this order: positions become documents before references change, and lengths come last.
REPAIRS = {
    "one-based": _one_based,
    "docnos": _docnos,
    "unresolved": _unresolved,
    "add-references": _add_references,
    "repeated": _repeated,
    "keep-first": _keep_first,
    "cited-set": _cited_set,
    "topic-text": _topic_text,
    "empty": _empty,
    "weights": _weights,
    "documents": _documents,
    "cut": cut_sentences,
    "length": _length,
}
