"""What a draft still needs before it opens; every step is ticked by facts, never by hand."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from leaderboard.boards.disclosure import Sight
from leaderboard.display.numbers import anywhere_on_earth, counted
from leaderboard.models import Benchmark, Job, Run, Track
from leaderboard.scoring.kinds import kind_of

# The first steps, without which a track does not open.
NEEDED = 3


@dataclass(frozen=True)
class ChecklistStep:
    """One step: what to do, whether it is done, and where to do it."""

    name: str
    title: str
    detail: str
    is_done: bool
    address: str = ""

    @property
    def has_button(self) -> bool:
        """Whether a button leads to it; a baseline is chosen or made on the page itself."""
        return bool(self.address) and self.name != "baseline"


@dataclass(frozen=True)
class Checklist:
    steps: list[ChecklistStep]
    makes_baseline: bool
    baseline_is_on_its_way: bool

    @property
    def next(self) -> ChecklistStep | None:
        return next((step for step in self.steps if not step.is_done), None)

    @property
    def num_done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def missing(self) -> list[ChecklistStep]:
        """The steps without which the track does not open."""
        return [step for step in self.steps[:NEEDED] if not step.is_done]

    @property
    def can_open(self) -> bool:
        return not self.missing


def build_checklist(sight: Sight) -> Checklist:
    track = sight.track
    made = _is_being_made(track)
    steps = [
        _describe(track),
        _data(track),
        _dates(track),
        _baseline(track, made),
        _invite(track),
        _test_run(track),
        _open(track),
    ]
    makes_baseline = track.collection.is_searchable and kind_of(track).takes_rankings
    return Checklist(steps, makes_baseline, made)


def _is_being_made(track: Track) -> bool:
    """Return whether a job ranks or checks the baseline; it has no name until it is checked.

    The job may set the baseline between two queries. So the job is read first: a page that found
    neither would not look again.
    """
    if Job.objects.of("make_baseline", track).open().exists():
        return True
    track.refresh_from_db(fields=["baseline"])
    checking = (Run.State.QUEUED, Run.State.CHECKING)
    return track.baseline is not None and track.baseline.state in checking


def _describe(track: Track) -> ChecklistStep:
    words = len(track.description.split())
    detail = "What is asked, who organises it, how to cite it."
    return ChecklistStep(
        "describe",
        "Describe the track",
        f"{counted(words, 'word')}." if words else detail,
        words > 0,
        reverse("manage_overview", args=[track.address]),
    )


def _data(track: Track) -> ChecklistStep:
    collection = track.collection
    parts = [counted(collection.num_topics, "topic")]
    if collection.num_documents:
        parts.insert(0, counted(collection.num_documents, "document"))
    if collection.licence:
        parts.append(f"licence {collection.licence}")
    parts.append("judgments for scoring" if track.judgment_set_id else "no judgments yet")
    has_terms = bool(collection.licence or collection.source_url or not collection.num_documents)
    missing = "" if has_terms else " Name a licence, or say where to get the documents."
    return ChecklistStep(
        "data",
        "Add the data",
        f"{', '.join(parts)}.{missing}",
        has_terms,
        f"{reverse('manage_overview', args=[track.address])}#data",
    )


def _dates(track: Track) -> ChecklistStep:
    if track.closes_at is None:
        detail = "No deadline: scores appear at once." if track.shows_scores else "No deadline yet."
    else:
        detail = f"Closes {anywhere_on_earth(track.closes_at)}."
    if track.planned_release is not None:
        detail += f" Planned release {anywhere_on_earth(track.planned_release)}."
    if track.has_moved_dates:
        detail += " Moved by a year: check and save them."
    return ChecklistStep(
        "dates",
        "Set the dates",
        detail,
        not track.has_moved_dates and (track.closes_at is not None or track.shows_scores),
        f"{reverse('deadlines', args=[track.address])}#change",
    )


def _baseline(track: Track, made: bool) -> ChecklistStep:
    words = "Teams compare with it, and it shows that topics and docnos match."
    address = reverse("submit", args=[track.address])
    if track.baseline is not None:
        words = f"{track.baseline} is the baseline."
        address = f"{reverse('manage_section', args=[track.address, 'judgments'])}#field-baseline"
    if made:
        words = "BM25 is ranking the documents. You can close this page."
    is_done = track.baseline is not None and not made
    return ChecklistStep("baseline", "Submit a baseline run", words, is_done, address)


def _invite(track: Track) -> ChecklistStep:
    rule = Benchmark.Joining
    details = {
        rule.EVERYONE: "Everyone can join once the track is open. Share its URL.",
        rule.INVITATION: "People join with the link, which works once the track is open.",
        rule.APPROVAL: "Once the track is open, teams ask to join and you approve them.",
    }
    detail = details[rule(track.benchmark.joining)]
    address = f"{reverse('people', args=[track.benchmark.slug])}#invitation"
    return ChecklistStep("invite", "Invite teams", detail, True, address)


def _test_run(track: Track) -> ChecklistStep:
    sent = Run.objects.filter(track=track, team__of_organisers=True)
    return ChecklistStep(
        "test",
        "Submit a test run",
        "Submit a file as a team would and read its receipt. Withdraw it afterwards.",
        sent.exclude(pk=track.baseline_id).exists(),
        reverse("submit", args=[track.address]),
    )


def _open(track: Track) -> ChecklistStep:
    seen = "everyone" if track.visibility == Track.Visibility.PUBLIC else "all who can join"
    return ChecklistStep(
        "open", "Open the track", f"The page becomes visible to {seen}.", not track.is_draft
    )
