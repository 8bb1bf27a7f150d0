"""Plan, open, pause and close an assessment; share out its topics; settle disagreements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.actions.conflicts import find_members, lock_people
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import accept_judgments
from leaderboard.actions.versions import accept_version
from leaderboard.analysis.decisive import find_swings, has_verdicts, sort_by_swing
from leaderboard.assessments.distribution import (
    LoadedAssessor,
    Opinion,
    find_team,
    plan_assignments,
    take,
)
from leaderboard.assessments.drawing import count_undrawn, find_docnos
from leaderboard.assessments.judgments import (
    JudgingOutcome,
    find_outcome,
    render_judgments,
    render_layer,
)
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.assessments.marking import lock_assessors
from leaderboard.assessments.pool_documents import documents_to_judge
from leaderboard.assessments.provenance import describe_drawing
from leaderboard.assessments.random_parts import fit_random_part
from leaderboard.assessments.rounds import plan_second_round
from leaderboard.assessments.third_opinions import (
    ThirdOpinions,
    plan_third_opinions,
    save_third_opinions,
)
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.whole_numbers import next_name
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    AuditEvent,
    Guideline,
    Invitation,
    JudgmentSet,
    MarkLayer,
    Pool,
    PracticeDocument,
    Settlement,
    Topic,
    User,
)
from leaderboard.models.assessments import GradeText
from leaderboard.models.collections import ImportedVersion
from leaderboard.notifications.notices import notify_assessor_finished, notify_topics_assigned

LONGEST_NOTES = Assignment._meta.get_field("notes").max_length
NO_VERDICTS = "“What decides” needs a board with a baseline and another run."


def plan_assessment(
    assessment: Assessment, user: User, text: str, scale: Sequence[GradeText]
) -> Assessment:
    """Save a new assessment as a draft with its first guideline.  Raises ActionError."""
    if assessment.pool.state != Pool.State.KEPT:
        raise ActionError("Approve the pool first.")
    if assessment.chooses and assessment.overlap != Assessment.Overlap.NONE:
        raise ActionError("This order goes with one opinion per document.")
    if not assessment.chooses:
        assessment.budget = None
    assessment.random_part = fit_random_part(assessment)
    _refuse_unfit_plan(assessment)
    decides = assessment.order == Assessment.Order.DECIDES
    if decides and not has_verdicts(assessment.pool.track):
        raise ActionError(NO_VERDICTS)
    assessment.track = assessment.pool.track
    names = assessment.track.assessments.values_list("name", flat=True)
    assessment.name = next_name("judging-", names)
    assessment.created_by = user
    try:
        with transaction.atomic():
            assessment.save(force_insert=True)
            write_guideline(assessment, user, text, scale)
            AuditEvent.objects.record(
                user, "plan", assessment, after={"pool": assessment.pool.name}
            )
    except IntegrityError:
        raise ActionError("This pool is being judged already.") from None
    return assessment


def _refuse_unfit_plan(assessment: Assessment) -> None:
    """Refuse what labels of answers do not allow: they are not in one order from low to high."""
    if not kind_of_judging(assessment).is_of_answers:
        return
    if assessment.order != Assessment.Order.RANDOM:
        raise ActionError("Answers are judged in random order.")
    if assessment.rule == Assessment.Rule.MEDIAN:
        raise ActionError("Labels have no median. Choose another rule.")


@transaction.atomic
def write_guideline(
    assessment: Assessment, user: User, text: str, scale: Sequence[GradeText]
) -> Guideline:
    """Add a version of the guideline; after the first mark the grades stay.  Raises ActionError."""
    last = assessment.guidelines.last()
    grades = _sort_scale(assessment, scale)
    numbers = [grade.grade for grade in grades]
    if not numbers or len(set(numbers)) < len(numbers) or not 0 <= min(numbers) < max(numbers) < 10:
        raise ActionError("A scale has at least two different grades from 0 to 9.")
    is_other = last is not None and numbers != [grade.grade for grade in last.scale]
    if is_other and assessment.has_marks:
        raise ActionError("Assessors have used these grades, so only their words can change.")
    guideline = Guideline.objects.create(
        assessment=assessment,
        number=1 if last is None else last.number + 1,
        text=text,
        grades=[_pack_grade(grade) for grade in grades],
        created_by=user,
    )
    assessment.__dict__.pop("guideline", None)
    AuditEvent.objects.record(user, "guideline", assessment, after={"number": guideline.number})
    return guideline


def _sort_scale(assessment: Assessment, scale: Sequence[GradeText]) -> list[GradeText]:
    """Return grades, the highest first, or the labels of answers with their keys."""
    labels = {label.grade: label for label in kind_of_judging(assessment).scale}
    if not labels:
        return sorted(scale, key=lambda grade: -grade.grade)
    words = {grade.grade: grade for grade in scale}
    if words.keys() != labels.keys():
        raise ActionError("The labels of answers are fixed; only their words can change.")
    return [replace(words[grade], key=label.key) for grade, label in labels.items()]


def _pack_grade(grade: GradeText) -> dict[str, Any]:
    """Return a grade as JSON; grades of documents are their own keys."""
    packed = asdict(grade)
    if not grade.key:
        del packed["key"]
    return packed


@transaction.atomic
def change_assessment(assessment: Assessment, user: User, changes: Mapping[str, Any]) -> None:
    """Change how a pool is judged.  Raises ActionError."""
    changes = {**changes, **_fit_random_part(assessment, changes)}
    before = {name: getattr(assessment, name) for name in changes}
    changed = {name: value for name, value in changes.items() if value != before[name]}
    if changed.get("allows_participants") is False:
        _refuse_judging_members(assessment)
    if changed:
        Assessment.objects.filter(pk=assessment.pk).update(**changed)
        AuditEvent.objects.record(
            user,
            "change",
            assessment,
            before={name: str(before[name]) for name in changed},
            after={name: str(value) for name, value in changed.items()},
        )


def _fit_random_part(assessment: Assessment, changes: Mapping[str, Any]) -> dict[str, int]:
    """Return the random part that goes with a changed order or budget, if either changes."""
    names = {"order", "budget", "random_part"} & changes.keys()
    if not names:
        return {}
    changed = copy(assessment)
    for name in names:
        setattr(changed, name, changes[name])
    return {"random_part": fit_random_part(changed)}


def _refuse_judging_members(assessment: Assessment) -> None:
    Assessment.objects.select_for_update().get(pk=assessment.pk)
    people = assessment.assessors.filter(user__isnull=False).values_list("user", flat=True)
    lock_people(people)
    both = find_members(assessment.track.benchmark_id, people).count()
    if both:
        raise ActionError(f"{counted(both, 'assessor')} of this judging take part in the track.")


@transaction.atomic
def discard_assessment(assessment: Assessment, user: User) -> None:
    """Delete a draft.  Raises ActionError."""
    if assessment.state != Assessment.State.DRAFT:
        raise ActionError("Only a draft can be discarded.")
    AuditEvent.objects.record(user, "discard", assessment)
    assessment.delete()


@transaction.atomic
def add_practice_document(
    assessment: Assessment, user: User, topic: Topic, docno: str, grade: int, why: str = ""
) -> PracticeDocument:
    """Add a document with a settled grade, on which assessors practise."""
    made = PracticeDocument.objects.create(
        assessment=assessment, topic=topic, docno=docno, grade=grade, why=why
    )
    after = {"topic": topic.number, "docno": docno, "grade": grade}
    AuditEvent.objects.record(user, "add practice", assessment, after=after)
    return made


@transaction.atomic
def remove_practice_document(practice: PracticeDocument, user: User) -> None:
    """Remove a document from the practice."""
    after = {"topic": practice.topic.number, "docno": practice.docno}
    AuditEvent.objects.record(user, "remove practice", practice.assessment, after=after)
    practice.delete()


@transaction.atomic
def add_assessor(assessment: Assessment, user: User) -> Assessor:
    """Make a user an assessor under the next pseudonym.  Raises ActionError."""
    # Two who join at the same moment wait for each other, and get different pseudonyms.
    Assessment.objects.select_for_update().get(pk=assessment.pk)
    known = assessment.assessors.filter(user=user).first()
    if known is not None:
        if known.removed_at is not None:
            raise ActionError("The organisers have taken you off this assessment.")
        return known
    if assessment.state == Assessment.State.CLOSED:
        raise ActionError("The judging is closed.")
    lock_people([user.pk])
    if not assessment.allows_participants:
        _refuse_members(assessment, [user.pk])
    assessor = Assessor.objects.create(
        assessment=assessment, user=user, name=next_pseudonym(assessment)
    )
    AuditEvent.objects.record(user, "judge", assessment, after={"assessor": assessor.name})
    return assessor


@transaction.atomic
def accept_judging(assessment: Assessment, user: User, code: str) -> Assessor:
    """Make a user an assessor by the link of the assessment, or by that of one invited person.

    Raises ActionError.
    """
    personal = Invitation.objects.filter(assessment=assessment)
    if code != assessment.invitation and not personal.accept(code, user):
        raise ActionError("This invitation no longer works. Ask the organisers for another.")
    return add_assessor(assessment, user)


def _refuse_members(assessment: Assessment, users: Sequence[int]) -> None:
    if find_members(assessment.track.benchmark_id, users).exists():
        raise ActionError("Teams of this track cannot judge it.")


def next_pseudonym(assessment: Assessment) -> str:
    """Return the first of A1, A2, ... after the number of assessors that nobody has."""
    taken = set(assessment.assessors.values_list("name", flat=True))
    number = len(taken) + 1
    while f"A{number}" in taken:
        number += 1
    return f"A{number}"


@transaction.atomic
def share_out(assessment: Assessment, user: User) -> int:
    """Give the opinions that nobody has to assessors by the rule; return how many were given."""
    lock_assessors(assessment=assessment)
    planned = plan_assignments(assessment)
    if planned and assessment.order == Assessment.Order.DECIDES:
        put_decisive_first(assessment, planned)
    Assignment.objects.bulk_create(planned)
    if planned:
        AuditEvent.objects.record(user, "share out", assessment, after={"topics": len(planned)})
    if assessment.state != Assessment.State.DRAFT:
        _notify_assigned(planned)
    return len(planned)


def put_decisive_first(assessment: Assessment, planned: Iterable[Assignment]) -> None:
    """List the documents of new assignments by what they could change on the board of now."""
    if not has_verdicts(assessment.track):
        raise ActionError(NO_VERDICTS)
    swings = find_swings(assessment.track)
    for assignment in planned:
        docnos = sort_by_swing(assessment, assignment.topic, find_docnos(assignment), swings)
        assignment.docnos = docnos[: assessment.budget]
        assignment.num_documents = len(assignment.docnos)


@transaction.atomic
def open_assessment(assessment: Assessment, user: User) -> None:
    """Share out the topics and let the judging begin.  Raises ActionError."""
    if not assessment.assessors.available().exists() and not assessment.has_marks:
        raise ActionError("Invite at least one assessor first.")
    share_out(assessment, user)
    _move(assessment, user, "open", (Assessment.State.DRAFT,), Assessment.State.OPEN)
    Assessment.objects.filter(pk=assessment.pk).update(opened_at=timezone.now())
    _notify_assigned(Assignment.objects.filter(assessor__assessment=assessment))


def _notify_assigned(assignments: Iterable[Assignment]) -> None:
    """Notify each assessor of the number of new topics."""
    topics = Counter(assignment.assessor_id for assignment in assignments)
    for assessor in Assessor.objects.filter(pk__in=list(topics)).select_related("assessment"):
        notify_topics_assigned(assessor, topics[assessor.pk])


def pause_assessment(assessment: Assessment, user: User) -> None:
    """Take no marks for a while.  Raises ActionError."""
    _move(assessment, user, "pause", (Assessment.State.OPEN,), Assessment.State.PAUSED)


def resume_assessment(assessment: Assessment, user: User) -> None:
    """Take marks again.  Raises ActionError."""
    _move(assessment, user, "resume", (Assessment.State.PAUSED,), Assessment.State.OPEN)


@transaction.atomic
def _move(
    assessment: Assessment, user: User, act: str, states: Iterable[str], state: Assessment.State
) -> None:
    moved = Assessment.objects.filter(pk=assessment.pk, state__in=states).update(state=state)
    if not moved:
        raise ActionError("Someone else just changed this assessment. Reload the page.")
    assessment.state = state
    AuditEvent.objects.record(user, act, assessment)


@transaction.atomic
def reassign(assignment: Assignment, user: User, to: Assessor) -> Assignment:
    """Let another assessor judge what is left of a topic.  Raises ActionError.

    The first assessor keeps the documents judged so far, with their marks.
    """
    others = assignment.assessor.assessment.assessors.available()
    if not others.filter(pk=to.pk).exists():
        raise ActionError("Choose an assessor of this assessment.")
    if Assignment.objects.filter(assessor=to, topic=assignment.topic).exists():
        raise ActionError(f"{to} judges this topic already.")
    lock_assessors(pk=assignment.assessor_id)
    worker = LoadedAssessor(to, find_team(to))
    _refuse_own_documents(assignment, worker)
    opinion = Opinion(assignment.topic, assignment.turn)
    if assignment.drawn_at is None:
        moved = take(worker, opinion, list(assignment.docnos), all_of_rule=not assignment.docnos)
        moved.num_documents = assignment.num_documents
        assignment.delete()
    else:
        left = assignment.documents.unjudged()
        docnos = list(left.filter(is_repeat=False).values_list("docno", flat=True))
        undrawn = count_undrawn(assignment)
        if not docnos and not undrawn:
            raise ActionError("Nothing is left to judge for this topic.")
        left.update(state=AssignedDocument.State.PASSED, tab="", leased_until=None)
        moved = take(worker, opinion, docnos)
        moved.num_documents += undrawn
        assignment.num_documents -= moved.num_documents
        assignment.finished_at = timezone.now()
        assignment.save(update_fields=["num_documents", "finished_at"])
    moved.settles = assignment.settles
    moved.save()
    if to.assessment.state != Assessment.State.DRAFT:
        _notify_assigned([moved])
    after = {"topic": assignment.topic.number, "from": str(assignment.assessor), "to": str(to)}
    AuditEvent.objects.record(user, "reassign", to.assessment, after=after)
    return moved


def _refuse_own_documents(assignment: Assignment, worker: LoadedAssessor) -> None:
    """Refuse an assessor whose team alone found a document that is left."""
    pool = assignment.assessor.assessment.pool
    pooled = documents_to_judge(pool, assignment.topic)
    own = {found.docno for found in pooled if found.is_only_of(worker.team)}
    left = {found.docno for found in pooled} if assignment.learns else set(find_docnos(assignment))
    if assignment.drawn_at is not None:
        unjudged = assignment.documents.unjudged()
        done = assignment.documents.kept().exclude(pk__in=unjudged.values("pk"))
        left -= set(done.values_list("docno", flat=True))
    if own & left:
        name = worker.assessor
        raise ActionError(f"Only the team of {name} found some of these documents.")


@transaction.atomic
def remove_assessor(assessor: Assessor, user: User) -> None:
    """Take an assessor off: the marks stay, what is left to judge is free for others."""
    removed = Assessor.objects.filter(pk=assessor.pk, removed_at=None).update(
        removed_at=timezone.now()
    )
    if not removed:
        raise ActionError("This assessor was taken off already.")
    assessor.assignments.filter(drawn_at=None).delete()
    AuditEvent.objects.record(
        user, "take off", assessor.assessment, after={"assessor": assessor.name}
    )


def begin_topic(assignment: Assignment) -> None:
    """Record that the assessor has read the guideline as it is now."""
    guideline = assignment.assessor.assessment.guideline
    Assignment.objects.filter(pk=assignment.pk).update(read_guideline=guideline)


def keep_notes(assignment: Assignment, notes: str) -> None:
    """Keep the assessor's own notes on a topic, the first part of very long ones."""
    Assignment.objects.filter(pk=assignment.pk).update(notes=notes[:LONGEST_NOTES])


@transaction.atomic
def finish_topic(assignment: Assignment) -> None:
    """Finish a topic when each of its documents has an answer.  Raises ActionError."""
    is_open = assignment.documents.unjudged().exists() or count_undrawn(assignment)
    if assignment.drawn_at is None or is_open:
        raise ActionError("Some documents of this topic still wait for an answer.")
    open_now = Assignment.objects.filter(pk=assignment.pk, finished_at=None)
    is_finished = open_now.update(finished_at=timezone.now())
    if is_finished and not assignment.assessor.assignments.unfinished().exists():
        notify_assessor_finished(assignment.assessor)


@transaction.atomic
def end_topic(assignment: Assignment, user: User) -> None:
    """Finish a topic early: what has no answer goes to nobody.  Raises ActionError."""
    (assessor,) = lock_assessors(pk=assignment.assessor_id)
    if not assessor.assessment.learns:
        raise ActionError("Only an order that learns can end before its last document.")
    open_now = Assignment.objects.filter(pk=assignment.pk, finished_at=None)
    if not open_now.update(finished_at=timezone.now()):
        raise ActionError("This topic is finished already.")
    left = assignment.documents.unjudged()
    left.update(state=AssignedDocument.State.PASSED, tab="", leased_until=None)
    judged = assignment.documents.kept().count()
    Assignment.objects.filter(pk=assignment.pk).update(num_documents=judged)
    after = {"topic": assignment.topic.number, "documents": judged}
    AuditEvent.objects.record(user, "end topic", assessor.assessment, after=after)


@transaction.atomic
def start_second_round(assessment: Assessment, user: User) -> int:
    """Give the rest of the budget to topics that still have relevant documents.

    Return how many documents that are.  Raises ActionError.
    """
    lock_assessors(assessment=assessment)
    planned = plan_second_round(assessment)
    if planned is None or assessment.state == Assessment.State.CLOSED:
        raise ActionError("The second round begins once the first is judged on every topic.")
    now = timezone.now()
    waiting = Assessment.objects.filter(pk=assessment.pk, second_round_at=None)
    if not waiting.update(second_round_at=now):
        raise ActionError("The second round has begun already.")
    assessment.second_round_at = now
    for key, extra in planned.extra.items():
        more = Assignment.objects.filter(pk=key)
        more.update(num_documents=F("num_documents") + extra, finished_at=None)
    _notify_assigned(Assignment.objects.filter(pk__in=planned.extra))
    after = {"topics": len(planned.extra), "documents": planned.num_documents}
    AuditEvent.objects.record(user, "second round", assessment, after=after)
    return planned.num_documents


@transaction.atomic
def ask_third(assessment: Assessment, user: User) -> ThirdOpinions:
    """Let others judge what assessors differ on.  Raises ActionError where nobody can."""
    lock_assessors(assessment=assessment)
    assessment.refresh_from_db(fields=["state", "rule"])
    if assessment.state not in (Assessment.State.OPEN, Assessment.State.PAUSED):
        raise ActionError("Third opinions are for a judging that is open or paused.")
    if assessment.rule != Assessment.Rule.AGREED:
        raise ActionError("Third opinions go with the rule “what most agree on”. Change it first.")
    third = plan_third_opinions(assessment)
    if not third.num_given:
        raise ActionError(
            f"{counted(third.num_left, 'disagreement')} without a third opinion, and no assessor "
            "who has not judged the topic. Invite another one."
            if third.num_left
            else "A third assessor was asked about every disagreement."
        )
    save_third_opinions(third.assignments)
    _notify_assigned(third.assignments)
    after = {"documents": third.num_given, "left": third.num_left}
    AuditEvent.objects.record(user, "ask third", assessment, after=after)
    return third


@transaction.atomic
def settle_document(
    assessment: Assessment,
    user: User,
    topic: Topic,
    docno: str,
    grade: int | None,
    note: str = "",
) -> Settlement:
    """Decide the grade of a document on which assessors differ.  Raises ActionError.

    As with a mark, it is either part of what closing makes or refused.
    """
    lock_assessors(assessment=assessment)
    assessment.refresh_from_db(fields=["state"])
    if assessment.state == Assessment.State.CLOSED:
        raise ActionError("The judging is closed.")
    if grade not in [known.grade for known in assessment.guideline.scale]:
        raise ActionError("Choose a grade of the scale.")
    settlement, _ = Settlement.objects.update_or_create(
        assessment=assessment,
        topic=topic,
        docno=docno,
        defaults={"grade": grade, "note": note, "settled_by": user, "settled_at": timezone.now()},
    )
    after = {"topic": topic.number, "docno": docno, "grade": grade}
    AuditEvent.objects.record(user, "settle", assessment, after=after)
    return settlement


@transaction.atomic
def close_assessment(
    assessment: Assessment, user: User, version: str, is_early: bool = False
) -> ImportedVersion:
    """Close the judging and make judgments, or a layer of marks, of it.  Raises ActionError.

    `is_early` says that the organiser knows that documents are without a grade.
    """
    lock_assessors(assessment=assessment)
    outcome = find_outcome(assessment)
    if outcome.num_ungraded and not is_early:
        label = "label" if kind_of_judging(assessment).is_of_answers else "grade"
        raise ActionError(
            f"Some {assessment.pool.noun}s have no {label}. Confirm that you close the judging "
            "early."
        )
    states = (Assessment.State.OPEN, Assessment.State.PAUSED)
    _move(assessment, user, "close", states, Assessment.State.CLOSED)
    note = describe_making(assessment, outcome)
    made = _make_result(assessment, user, version, outcome, note)
    field = "layer" if isinstance(made, MarkLayer) else "version"
    Assessment.objects.filter(pk=assessment.pk).update(closed_at=timezone.now(), **{field: made})
    return made


def make_trial_version(assessment: Assessment, user: User, version: str) -> ImportedVersion:
    """Make a version of what is judged so far, which organisers can try on the board."""
    outcome = find_outcome(assessment)
    if not outcome.num_graded:
        raise ActionError("Nothing is judged yet.")
    note = f"As judged so far. {describe_making(assessment, outcome)}"
    return _make_result(assessment, user, version, outcome, note)


def _make_result(
    assessment: Assessment, user: User, version: str, outcome: JudgingOutcome, note: str
) -> ImportedVersion:
    make = _make_layer if kind_of_judging(assessment).is_of_answers else _make_version
    return make(assessment, user, version, outcome, note)


def _make_layer(
    assessment: Assessment, user: User, version: str, outcome: JudgingOutcome, note: str
) -> MarkLayer:
    """Store the settled labels as a file of marks and queue its import, with the earlier marks."""
    if not outcome.num_graded:
        raise ActionError("Nothing is judged yet.")
    pool = assessment.pool
    layer = MarkLayer(
        track=assessment.track,
        version=version,
        about=pool.about,
        nuggets=pool.nuggets,
        assessment=assessment,
        joins=pool.marked_in,
        made_by=MarkLayer.MadeBy.PEOPLE,
        note=note,
        asks_first=False,
        created_by=user,
    )
    content = b"".join(render_layer(assessment, outcome))
    accept_version(layer, SimpleUploadedFile(f"{assessment.name}.jsonl", content))
    return layer


def describe_outcome(assessment: Assessment, outcome: JudgingOutcome) -> str:
    """Return how much of the pool is judged, for the note of the version."""
    verb = "has" if outcome.num_graded == 1 else "have"
    pooled = counted(outcome.num_pooled, assessment.pool.noun)
    label = "a label" if kind_of_judging(assessment).is_of_answers else "a grade"
    return f"{outcome.num_graded:,} of {pooled} of the pool {verb} {label}."


def describe_making(assessment: Assessment, outcome: JudgingOutcome) -> str:
    """Return how much is judged, and how it was drawn, for the note of the version."""
    if kind_of_judging(assessment).is_of_answers or not assessment.chooses:
        return describe_outcome(assessment, outcome)
    verb = "has" if outcome.num_graded == 1 else "have"
    graded = counted(outcome.num_graded, "document")
    return f"{graded} {verb} a grade. {describe_drawing(assessment)}"


@transaction.atomic
def _make_version(
    assessment: Assessment, user: User, version: str, outcome: JudgingOutcome, note: str
) -> JudgmentSet:
    """Store the settled marks as a file of judgments and queue its import."""
    if not outcome.num_graded:
        raise ActionError("No document has a grade yet.")
    content = b"".join(render_judgments(assessment, outcome))
    file = SimpleUploadedFile(f"{assessment.name}.qrels", content)
    is_whole = not outcome.num_ungraded and not assessment.chooses
    made = accept_judgments(
        assessment.track.collection,
        file,
        version,
        user,
        note=note,
        format="trec",
        asks_first=False,
        pool=assessment.pool if is_whole else None,
    )
    if assessment.chooses:
        # Its depth is unknown: no run is judged down to a rank.
        made.add_pooled_runs(assessment.pool.runs.values_list("pk", flat=True), None)
    before = assessment.pool.judged_in
    JudgmentSet.objects.filter(pk=made.pk).update(
        assessment=assessment,
        pool=assessment.pool,
        relevant_from=before.relevant_from if before is not None else 1,
        made_by=JudgmentSet.MadeBy.PEOPLE,
    )
    return made
