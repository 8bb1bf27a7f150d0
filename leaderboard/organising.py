"""What organisers do: confirm a collection, open and change a track, release, withdraw."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from evaluation.reading.repairs import TAG, TAG_RULE
from leaderboard.collections.answers import Answers, whole_map
from leaderboard.collections.pools import first_of_each_team, unused_name
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Collection,
    Edition,
    JudgmentSet,
    Pool,
    Run,
    Team,
    Track,
    User,
    Webhook,
)
from leaderboard.models.collections import ImportState
from leaderboard.models.tracks import new_invitation
from leaderboard.notifications import notices
from leaderboard.refusing import (
    refuse_outside_dates,
    refuse_over_quota,
    refuse_repeated_tag,
    refuse_sent_again,
)
from leaderboard.scoring import editions

# How an organiser takes a run off the board, and what the audit calls it.
TAKING_OFF = {"disqualified": "disqualify", "hidden": "hide"}


class NotPossible(Exception):
    """Why the act cannot be done now; the text is for the organiser."""


WAITING = (ImportState.PREVIEW,)
STOPPED = (ImportState.PREVIEW, ImportState.REFUSED, ImportState.FAILED)


@transaction.atomic
def confirm_collection(collection: Collection, user: User, answers: Answers | None = None) -> None:
    """Check the files again with the answers given, and import them.

    An open question has to be answered: raises NotPossible.
    """
    answers = answers or Answers()
    if left := answers.open_among(collection.questions):
        raise NotPossible(left)
    _check_again(collection, WAITING, asks_first=False, answers=answers)
    AuditEvent.objects.record(user, "confirm", collection)


def look_again(collection: Collection, user: User, answers: Answers) -> None:
    """Show what was found under other answers; nothing is imported.

    What the grades become is told from the preview; for other answers the files are read again.
    """
    if answers.formats or answers.renumber_topics is not None:
        check_again(collection, user, answers)
        return
    waiting = collection.judgment_sets.filter(state=ImportState.PREVIEW)
    waiting.update(**_said_of_grades(answers, collection.preview.get("judgments", {})))


@transaction.atomic
def check_again(collection: Collection, user: User, answers: Answers | None = None) -> None:
    """Read the files of a collection that is not imported once more, and show what is found."""
    _check_again(collection, STOPPED, asks_first=True, answers=answers or Answers())
    AuditEvent.objects.record(user, "check again", collection)


def _check_again(
    collection: Collection, states: Iterable[str], asks_first: bool, answers: Answers
) -> None:
    taken = Collection.objects.filter(pk=collection.pk, state__in=states).update(
        state=ImportState.QUEUED, asks_first=asks_first
    )
    if not taken:
        raise NotPossible("This collection is not awaiting confirmation.")
    collection.formats = {**collection.formats, **(answers.formats or {})}
    if answers.renumber_topics is not None:
        collection.renumber_topics = answers.renumber_topics
    Collection.objects.filter(pk=collection.pk).update(
        formats=collection.formats, renumber_topics=collection.renumber_topics
    )
    collection.judgment_sets.update(
        state=ImportState.QUEUED,
        format=collection.formats.get("judgments", ""),
        **_said_of_grades(answers, collection.preview.get("judgments", {})),
    )
    queue.enqueue("check_collection", collection)


def _said_of_grades(answers: Answers, preview: dict[str, Any]) -> dict[str, Any]:
    """The fields of a set of judgments that the answers change."""
    said: dict[str, Any] = {}
    if answers.grade_map is not None:
        said["grade_map"] = whole_map(answers.grade_map, preview.get("grades", {}))
    if answers.relevant_from is not None:
        said["relevant_from"] = answers.relevant_from
    return said


def confirm_judgments(
    judgment_set: JudgmentSet, user: User, answers: Answers | None = None
) -> None:
    """Check new judgments again with the answers given, and import them; see above."""
    answers = answers or Answers()
    if left := answers.open_among(judgment_set.questions):
        raise NotPossible(left)
    _check_judgments_again(judgment_set, WAITING, asks_first=False, answers=answers)
    AuditEvent.objects.record(user, "confirm", judgment_set)


def check_judgments_again(
    judgment_set: JudgmentSet, user: User, answers: Answers | None = None
) -> None:
    """Read new judgments again under other answers: what they change depends on the grades."""
    answers = answers or Answers()
    _check_judgments_again(judgment_set, STOPPED, asks_first=True, answers=answers)
    AuditEvent.objects.record(user, "check again", judgment_set)


@transaction.atomic
def _check_judgments_again(
    judgment_set: JudgmentSet, states: Iterable[str], asks_first: bool, answers: Answers
) -> None:
    taken = JudgmentSet.objects.filter(
        pk=judgment_set.pk, state__in=states, collection__state=ImportState.READY
    ).update(
        state=ImportState.QUEUED,
        asks_first=asks_first,
        format=(answers.formats or {}).get("judgments", judgment_set.format),
        **_said_of_grades(answers, judgment_set.preview),
    )
    if not taken:
        raise NotPossible("These judgments are not awaiting confirmation.")
    queue.enqueue("check_judgments", judgment_set)


def discard_judgments(judgment_set: JudgmentSet, user: User) -> None:
    """Take away new judgments that were never imported."""
    with transaction.atomic():
        version = {"version": judgment_set.version}
        AuditEvent.objects.record(user, "discard", judgment_set, before=version)
        never_imported = JudgmentSet.objects.filter(pk=judgment_set.pk, state__in=STOPPED)
        deleted, _ = never_imported.filter(collection__state=ImportState.READY).delete()
        if not deleted:
            raise NotPossible("Imported judgments cannot be deleted: scores use them.")


def discard_collection(collection: Collection, user: User) -> None:
    """Take away a collection that was never imported."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "discard", collection, before={"slug": collection.slug})
        deleted, _ = (
            Collection.objects.filter(pk=collection.pk, tracks=None)
            .exclude(state__in=[ImportState.READY, ImportState.IMPORTING])
            .delete()
        )
    if not deleted:
        raise NotPossible("This collection cannot be deleted: tracks use it.")


@transaction.atomic
def open_track(track: Track, user: User) -> Track:
    """Save a new track and score what there is."""
    track.owner = user
    track.save(force_insert=True)
    AuditEvent.objects.record(user, "open", track, after={"slug": track.slug})
    renew_edition(track)
    return track


@transaction.atomic
def change_track(track: Track, user: User, changes: dict[str, Any]) -> Track:
    """Set fields of a track; what changes a value makes new editions: of the board, of a trial.

    A form sends what stays as it is too: nobody is told of that.  Raises NotPossible where a
    setting would show what only a release may.
    """
    _refuse_showing_unreleased(track, changes.get("disclosure", track.disclosure))
    tried, deadline = editions.judgments_on_trial(track), track.closes_at
    after = {name: value for name, value in changes.items() if value != getattr(track, name)}
    before = {name: _plain(getattr(track, name)) for name in after}
    for name, value in after.items():
        setattr(track, name, value)
    if after:
        track.save(update_fields=list(after))
        plain = {name: _plain(value) for name, value in after.items()}
        AuditEvent.objects.record(user, "change", track, before, plain)
    if track.closes_at != deadline:
        notices.deadline_moved(track)
    renew_edition(track)
    if tried is not None and tried != track.judgment_set:
        renew_edition(editions.with_judgments(track, tried))
    return track


def _refuse_showing_unreleased(track: Track, disclosure: str) -> None:
    """The runs of a blind track show by its release: that says before what it shows to whom, and
    tells everybody who takes part."""
    if disclosure == Track.Disclosure.BLIND or track.shows_means:
        return
    if track.runs.taken().exists():
        page = reverse("release", args=[track.slug])
        raise NotPossible(
            "This would reveal all runs of a blind track. Release it instead: "
            f"{page} shows who will see what."
        )


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)


def renew_edition(track: Track) -> None:
    if editions.start_edition(track) is not None:
        transaction.on_commit(queue.ring)


def renew_editions(track: Track) -> None:
    """That of the board, and that of the judgments on trial."""
    renew_edition(track)
    tried = editions.judgments_on_trial(track)
    if tried is not None:
        renew_edition(editions.with_judgments(track, tried))


@transaction.atomic
def score_again(track: Track, user: User) -> None:
    """Compute every value of the board and of a trial anew; both stand meanwhile.

    Raises NotPossible.
    """
    if track.judgment_set is None and editions.judgments_on_trial(track) is None:
        raise NotPossible("There are no judgments to score with yet.")
    AuditEvent.objects.record(user, "score again", track)
    # What is not complete is built; only what is can be computed again.
    renew_editions(track)
    for edition in editions.editions_wanted(track).filter(state=Edition.State.READY):
        queue.enqueue("score_again", edition)


def try_judgments(track: Track, user: User, judgment_set: JudgmentSet) -> None:
    """Score every run of the track with these judgments too; the board stays as it is."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "try", track, after={"judgments": judgment_set.version})
        renew_edition(editions.with_judgments(track, judgment_set))


def choose_baseline(track: Track, user: User, run: Run | None) -> None:
    change_track(track, user, {"baseline": run})
    if track.edition is not None:
        queue.enqueue("compare", track.edition)


def release(track: Track, user: User) -> None:
    """Show everything that the disclosure of the track shows after release; once, and for good."""
    with transaction.atomic():
        if Track.objects.filter(pk=track.pk, released_at=None).update(released_at=timezone.now()):
            AuditEvent.objects.record(user, "release", track)
            notices.released(track)


@transaction.atomic
def renew_invitation(track: Track, user: User) -> None:
    """Another invitation link; the one before lets nobody in from now on."""
    Track.objects.filter(pk=track.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(user, "renew invitation", track)


@transaction.atomic
def renew_badge(track: Track, user: User) -> None:
    """A new address for the badge; the one before leads nowhere from now on."""
    Track.objects.filter(pk=track.pk).update(badge_code=secrets.token_urlsafe(16))
    AuditEvent.objects.record(user, "renew badge", track)


@transaction.atomic
def remove_badge(track: Track, user: User) -> None:
    Track.objects.filter(pk=track.pk).update(badge_code="")
    AuditEvent.objects.record(user, "remove badge", track)


def begin_pool(
    track: Track,
    user: User,
    runs: Sequence[Run],
    method: str,
    size: int,
    runs_per_team: int | None = None,
) -> Pool:
    """A pool of these runs, or of the first of each team, for a worker to gather and an organiser
    to look at.  Raises NotPossible."""
    if not runs:
        raise NotPossible("A pool needs at least one run.")
    if runs_per_team is not None:
        runs = first_of_each_team(runs, runs_per_team)
    pool = Pool(
        track=track,
        name=unused_name(track),
        method=method,
        size=size,
        runs_per_team=runs_per_team,
        judged_in=track.judgment_set,
        created_by=user,
    )
    try:
        with transaction.atomic():
            pool.save(force_insert=True)
            pool.runs.set(runs)
            queue.enqueue("gather_pool", pool)
    except IntegrityError:
        raise NotPossible("Someone else just created a pool. Check it first.") from None
    return pool


@transaction.atomic
def keep_pool(pool: Pool, user: User) -> None:
    """From now on this is what is judged, and nothing changes it.  Raises NotPossible."""
    preview = Pool.objects.filter(pk=pool.pk, state=Pool.State.PROPOSED)
    if not preview.update(state=Pool.State.KEPT, kept_at=timezone.now()):
        raise NotPossible("This pool is not awaiting approval.")
    AuditEvent.objects.record(user, "keep", pool, after={"sha256": pool.sha256})


@transaction.atomic
def discard_pool(pool: Pool, user: User) -> None:
    """Take away a pool that nobody kept.  Raises NotPossible."""
    unkept = Pool.objects.filter(pk=pool.pk).exclude(state=Pool.State.KEPT)
    AuditEvent.objects.record(user, "discard", pool, before={"name": pool.name})
    if not unkept.delete()[0]:
        raise NotPossible("You cannot delete an approved pool.")


def add_webhook(track: Track, user: User, url: str, happenings: list[str]) -> Webhook:
    """An address to call when one of these happens.  Raises NotPossible."""
    try:
        with transaction.atomic():
            # Of two that are added at once the second one counts the first.
            Track.objects.select_for_update(no_key=True).get(pk=track.pk)
            if track.webhooks.count() >= Webhook.MOST_PER_TRACK:
                most = Webhook.MOST_PER_TRACK
                raise NotPossible(f"A track has up to {most} webhooks. Remove one first.")
            webhook = track.webhooks.create(url=url, happenings=happenings, created_by=user)
            AuditEvent.objects.record(user, "add", webhook, after={"url": url})
            return webhook
    except IntegrityError:
        raise NotPossible("This webhook already exists.") from None


def remove_webhook(track: Track, user: User, webhook_id: int) -> None:
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            AuditEvent.objects.record(user, "remove", webhook, before={"url": webhook.url})
            webhook.delete()


def switch_on_webhook(track: Track, user: User, webhook_id: int) -> None:
    """Call a webhook again that was switched off."""
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            if webhook.switch_on():
                AuditEvent.objects.record(user, "switch on", webhook, after={"url": webhook.url})


def withdraw(run: Run, user: User, reason: str = "") -> None:
    """Take a run off the board; its file and its address stay."""
    with transaction.atomic():
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at=None).update(
            withdrawn_at=timezone.now(), withdrawn_by=user, withdrawn_reason=reason
        )
        if not withdrawn:
            return
        AuditEvent.objects.record(user, "withdraw", run, after={"reason": reason})
        _leave_the_board(run)


def undo_withdrawal(run: Run, user: User) -> None:
    """The run stands again where it stood.

    Raises NotAccepted: for its team once no run is taken any more, and for everybody where what
    came since has its place.
    """
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now())
    with transaction.atomic():
        if Run.objects.taken().filter(pk=run.pk).exists():
            _refuse_without_room(run, user)
        withdrawn = Run.objects.filter(pk=run.pk, withdrawn_at__isnull=False)
        if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason=""):
            before = {"reason": run.withdrawn_reason}
            AuditEvent.objects.record(user, "undo withdrawal", run, before=before)
            _compare_again(run.track)


def _refuse_without_room(run: Run, user: User) -> None:
    """What did not count may count again where the file, the tag and the quota leave it room.

    Under the lock on the team's row, as uploads are; organisers are held to no quota.
    """
    team = Team.objects.select_for_update(no_key=True).get(pk=run.team_id)
    refuse_sent_again(run)
    refuse_repeated_tag(run)
    counts = Run.objects.counting().filter(pk=run.pk).exists()
    if not counts and not run.track.is_organised_by(user):
        refuse_over_quota(run.track, team, run.received_at)


def take_off(run: Run, user: User, how: str, reason: str) -> None:
    """Disqualify a run (`disqualified`, its address says why) or hide it (`hidden`, from all
    but its team); the organisers can bring it back.  Raises NotPossible."""
    if not reason.strip():
        raise NotPossible("Enter a reason. The team and the public will see it.")
    with transaction.atomic():
        by = {f"{how}_at": timezone.now(), f"{how}_by": user, f"{how}_reason": reason}
        if Run.objects.filter(pk=run.pk, **{f"{how}_at": None}).update(**by):
            AuditEvent.objects.record(user, TAKING_OFF[how], run, after={"reason": reason})
            _leave_the_board(run)


def bring_back(run: Run, user: User) -> None:
    """Undo what organisers did: the run is neither disqualified nor hidden any more."""
    fields = {f"{how}_{part}": None for how in TAKING_OFF for part in ("at", "by")}
    fields |= {f"{how}_reason": "" for how in TAKING_OFF}
    with transaction.atomic():
        taken_off = Q(disqualified_at__isnull=False) | Q(hidden_at__isnull=False)
        if Run.objects.filter(taken_off, pk=run.pk).update(**fields):
            AuditEvent.objects.record(user, "bring back", run)
            _compare_again(run.track)


def _leave_the_board(run: Run) -> None:
    Track.objects.filter(pk=run.track_id, baseline=run).update(baseline=None)
    _compare_again(run.track)


def _compare_again(track: Track) -> None:
    if track.edition is not None:
        queue.enqueue("compare", track.edition)


def repair(run: Run, user: User, fix: str, tag: str = "") -> None:
    """Check a rejected run again with one more repair; the stored file stays as it was sent.

    Raises NotPossible where there is nothing to repair, and NotAccepted as a new upload does.
    """
    if run.state != Run.State.REFUSED or not run.file:
        raise NotPossible("Only a rejected run whose file is still here can be repaired.")
    if tag and not TAG.fullmatch(tag.encode()):
        raise NotPossible(f"The tag is not valid: {TAG_RULE}.")
    fixes = [*run.fixes, *({fix} - set(run.fixes))]
    asked = {"fixes": fixes, "tag": tag if fix == "tag" and tag else run.tag}
    if asked == {"fixes": run.fixes, "tag": run.tag}:
        raise NotPossible("This repair was already made. Submit a fixed file.")
    if not run.track.is_organised_by(user):
        refuse_outside_dates(run.track, timezone.now())
    with transaction.atomic():
        run.tag = asked["tag"]
        _refuse_without_room(run, user)
        if Run.objects.moved(run.pk, Run.State.QUEUED, only_from=[Run.State.REFUSED]):
            cleared = {"problems": [], "problem_totals": {}, "checked_at": None}
            Run.objects.filter(pk=run.pk).update(**asked, **cleared, problems_file="")
            AuditEvent.objects.record(user, "repair", run, after=asked)
            queue.enqueue("check_run", run)


def try_again(run: Run, user: User) -> None:
    """Queue a run that failed by our fault once more.  Raises NotAccepted, as above."""
    with transaction.atomic():
        _refuse_without_room(run, user)
        if Run.objects.moved(run.pk, Run.State.QUEUED, only_from=[Run.State.FAILED]):
            AuditEvent.objects.record(user, "try again", run)
            queue.enqueue("check_run", run)
