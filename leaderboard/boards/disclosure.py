"""Who sees what of a track: the one place that knows.

Pages, API and exports ask for a `Sight`, one viewer's view of one track at one instant, and
print only what it returns.  While a track is blind nothing derived from judgments leaves here:
not a score, not the order, not even whether judgments exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404

from evaluation.measures import parse_measure
from leaderboard.models import Collection, Edition, JudgmentSet, Run, Team, Topic, Track, User
from leaderboard.models.runs import RunQuerySet
from leaderboard.models.tracks import EditionQuerySet
from leaderboard.runs.facts import FILTERS
from leaderboard.scoring.families import measures_of, ranking_measure, selected
from leaderboard.scoring.ladder import Ladder, ladder_of

# Facts in fixed words and figures; links and free words name people, places and systems.
TELLING_OF_NOBODY = {*FILTERS, "efficiency"}


def veiled(run: Run) -> Run:
    """A copy of the run under the pseudonym of its team; not for saving."""
    other = copy(run)
    other.team = copy(run.team)
    other.team.name = run.team.pseudonym
    other.tag = run.pseudonym
    other.filename = other.description = other.withdrawn_reason = ""
    other.metadata = {}
    other.facts = {name: said for name, said in run.facts.items() if name in TELLING_OF_NOBODY}
    return other


Viewer = User | AnonymousUser

# How the states of a run that only judgments bring about read where nothing may tell of those.
WITHOUT_MEANS = {Run.State.SCORING: Run.State.CHECKING, Run.State.SCORED: Run.State.VALID}


@dataclass(frozen=True)
class Sight:
    track: Track
    viewer: Viewer
    organises: bool
    team: Team | None
    # In the place of the edition on the board, where another is asked for.
    other: Edition | None = None
    # Every run that shows a mean stands, whatever the rule of the track selects.
    every_run: bool = False

    @property
    def everything(self) -> bool:
        """Whether scores, topics, grades and tests of all ranked runs may be shown."""
        return self.organises or self.track.shows_scores

    @property
    def means(self) -> bool:
        """Whether a board may be shown, be it one of rounded means."""
        return self.organises or self.track.shows_means

    @property
    def decimals(self) -> int | None:
        """How many decimals of a mean may be seen; None: all of them."""
        if self.everything or self.board_edition is None:
            return None
        return self.board_edition.safe_decimals

    def rounded(self, measure: str, mean: float | None) -> float | None:
        """A mean as this viewer may see it; None where any digit would tell what is judged."""
        if mean is None or self.decimals is None:
            return mean
        if not hides_judgments(measure):
            return None
        mean = mean if self.ladder is None else self.ladder.rounded(mean)
        return round(mean, self.decimals)

    @cached_property
    def ladder(self) -> Ladder | None:
        """Which runs show a mean at all; None where every one does."""
        edition = self.board_edition
        if self.everything or edition is None or not self.track.ladder_step:
            return None
        edition.track = self.track
        return ladder_of(edition)

    @property
    def board_edition(self) -> Edition | None:
        """The edition on the board, where the viewer may see a mean of it."""
        return self.edition or (self.track.live_edition if self.means else None)

    @property
    def qrels(self) -> bool:
        """Whether judgments may be downloaded as a file: those behind a board that shows whole."""
        return self.organises or (self.everything and self.track.shares_judgments)

    @property
    def kept_topics(self) -> list[str]:
        """Whose judgments are in no file for this viewer: the board leaves these topics out."""
        if self.organises or self.edition is None:
            return []
        left_out: list[str] = self.edition.settings["excluded_topics"]
        return left_out

    def hands_out(self, topic: Topic) -> bool:
        """Whether all that is judged of a topic may be downloaded."""
        return self.qrels and topic.number not in self.kept_topics

    @property
    def edition(self) -> Edition | None:
        """The edition to show, where the viewer may see a board."""
        return (self.other or self.track.edition) if self.everything else None

    @cached_property
    def measures(self) -> list[str]:
        """Those of the track; of another edition those that it has."""
        if self.other is None:
            return self.track.measures
        self.other.track = self.track
        return measures_of(self.other)

    @property
    def primary_measure(self) -> str:
        """By which the board ranks where nobody chooses."""
        return ranking_measure(self.track, self.measures)

    def measure_or_primary(self, asked: str) -> str:
        """What a reader asks for, where the board has it."""
        return asked if asked in self.measures else self.primary_measure

    @property
    def others(self) -> EditionQuerySet:
        """What this viewer may see beside the edition on the board: organisers what they tried."""
        if not self.everything:
            return Edition.objects.none()
        editions = Edition.objects.other_scored(self.track)
        return editions if self.organises else editions.formerly_public(self.track)

    def by_judgments(self, version: str) -> Sight:
        """The same view of the board that these judgments make; with "" of the board as it is."""
        current = self.board_edition
        if not version or (current is not None and current.judgment_set.version == version):
            return self
        found = (each for each in self.others if each.judgment_set.version == version)
        other = next(found, None)
        if other is None:
            raise Http404("no such board")
        return replace(self, other=other)

    def with_every_run(self) -> Sight:
        """The same view of the board on which the runs stand too that its rule leaves out."""
        return replace(self, every_run=True)

    def runs(self) -> RunQuerySet:
        """Every run that exists for this viewer."""
        runs = Run.objects.filter(track=self.track).select_related("team", "track")
        if self.organises:
            return runs
        mine = Q(team=self.team) if self.team is not None else Q(pk__in=[])
        if self.means:
            return runs.filter(mine | Q(pk__in=Run.objects.on_the_board()))
        return runs.filter(mine)

    def own_runs(self) -> RunQuerySet:
        return self.runs().filter(team=self.team) if self.team else self.runs().none()

    def owns(self, run: Run) -> bool:
        return self.team is not None and run.team_id == self.team.pk

    def on_the_board(
        self, edition: Edition, runs: Iterable[Run], means: Mapping[str, float | None] | None = None
    ) -> list[Run]:
        """Those that stand on its board, by the names that this viewer may read."""
        if self.ladder is not None:
            shown = set(self.ladder.risen if self.every_run else self.ladder.standing)
            return [self.named(run) for run in runs if run.pk in shown]
        chosen = runs if self.every_run else selected(edition, runs, means)
        return [self.named(run) for run in chosen]

    def named(self, run: Run) -> Run:
        """The run by the name that this viewer may read: that of another team may be a pseudonym.

        The organisers' own runs are no contenders and keep their names.
        """
        known = self.organises or self.owns(run) or run.team.of_organisers
        return run if known or not self.track.hides_names else veiled(run)

    def runs_called(self, text: str, most: int) -> list[Run]:
        """Runs whose tag holds the text; what goes by a pseudonym is found by that alone."""
        if self.organises or not self.track.hides_names:
            return list(self.runs().filter(tag__icontains=text)[:most])
        named = (self.named(run) for run in self.runs())
        return [run for run in named if text.casefold() in run.tag.casefold()][:most]

    @property
    def snapshots(self) -> bool:
        """Whether frozen boards may be shown: they hold every score, and the names."""
        return self.organises or (self.everything and not self.track.hides_names)

    def inside(self, run: Run) -> bool:
        """Whether file and problems of a run may be shown: to its team and organisers."""
        return self.organises or self.owns(run)

    def states(self, run: Run) -> bool:
        """Whether this viewer may state facts of a run: organisers, and its team till release."""
        return self.organises or (self.owns(run) and self.track.released_at is None)

    def brings_back(self, run: Run) -> bool:
        """Whether this viewer may undo a withdrawal: organisers, its team while runs are taken."""
        return self.organises or (self.owns(run) and self.track.accepts_runs())

    def state_of(self, run: Run) -> str:
        """The state to show; a blind track does not tell whether there are judgments."""
        return run.state if self.means else WITHOUT_MEANS.get(run.state, run.state)

    def done(self, run: Run) -> bool:
        return self.state_of(run) in (
            Run.State.REFUSED,
            Run.State.VALID,
            Run.State.SCORED,
            Run.State.FAILED,
        )

    def means_of(self, run: Run) -> bool:
        """Whether the means of a run may be shown, be they rounded."""
        shown = not run.removal or self.inside(run)
        shown = shown and (self.ladder is None or run.pk in self.ladder.risen)
        return self.board_edition is not None and run.state == Run.State.SCORED and shown

    def scores_of(self, run: Run) -> bool:
        """Whether the scores of a run may be shown, topic by topic."""
        return self.everything and self.means_of(run)

    def remembers(self, run: Run) -> bool:
        """Whether this viewer could see the run before it left the board."""
        gone = run.removal in ("withdrawn", "disqualified")
        return self.means and run.state == Run.State.SCORED and gone


@cache
def hides_judgments(text: str) -> bool:
    """Whether a rounded mean of this measure tells little of any document.

    Counts and what depends on which documents are judged tell too much, however they are rounded.
    """
    measure = parse_measure(text)
    shares = measure.definition.range == (0, 1) and measure.definition.bounds != "none"
    return shares and measure.parameters.get("holes") != "condensed"


def look(track: Track, viewer: Viewer) -> Sight:
    return Sight(track, viewer, track.is_organised_by(viewer), track.team_of(viewer))


def look_at_all(tracks: Sequence[Track], viewer: Viewer) -> list[Sight]:
    """One's view of each, with as few queries as of one."""
    organised = set(Track.objects.organised_by(viewer).values_list("pk", flat=True))
    own = Team.objects.filter(memberships__user=viewer) if viewer.is_authenticated else []
    teams = {team.track_id: team for team in own}
    for track in tracks:
        if track.pk in teams:
            teams[track.pk].track = track
    return [Sight(track, viewer, track.pk in organised, teams.get(track.pk)) for track in tracks]


def track_or_404(viewer: Viewer, slug: str) -> Sight:
    """One's view of a track; what one may not know does not exist."""
    tracks = Track.objects.visible_to(viewer).select_related(
        *("collection", "judgment_set", "baseline__team"),
        *("edition__judgment_set", "public_edition__judgment_set"),
    )
    track = tracks.filter(slug=slug).first()
    if track is None:
        raise Http404("no such track")
    return look(track, viewer)


@dataclass(frozen=True)
class SeenRun:
    run: Run
    sight: Sight


def runs_known_to(viewer: Viewer) -> RunQuerySet:
    """Return every run that a viewer may see, and no run of a blind track of others.

    A hidden run and a missing one cost the same single query, so the time of an answer does not
    tell them apart.  What shows of a run is still decided by the view of its track.
    """
    organised = Q(track__in=Track.objects.organised_by(viewer).values("pk"))
    own = Q(pk__in=[])
    if viewer.is_authenticated:
        own = Q(team__in=Team.objects.filter(memberships__user=viewer).values("pk"))
    shown = Q(hidden_at=None, state=Run.State.SCORED) & ~Q(
        track__disclosure=Track.Disclosure.BLIND, track__released_at=None
    )
    visible = Run.objects.filter(track__in=Track.objects.visible_to(viewer).values("pk"))
    return visible.filter(organised | own | shown)


def run_or_404(viewer: Viewer, run_id: str) -> SeenRun:
    """A run with the view of its track through which it is seen, by the name it has there."""
    run = runs_known_to(viewer).filter(pk=run_id).select_related("track", "team").first()
    if run is None:
        raise Http404("no such run")
    sight = track_or_404(viewer, run.track.slug)
    if not sight.runs().filter(pk=run_id).exists() and not sight.remembers(run):
        raise Http404("no such run")
    run.track = sight.track
    return SeenRun(sight.named(run), sight)


def judgment_sets_seen(viewer: Viewer, collection: Collection) -> QuerySet[JudgmentSet]:
    """Those behind a board that the viewer may see; all of them for organisers."""
    if collection.is_organised_by(viewer):
        return collection.judgment_sets.all()
    tracks = Track.objects.visible_to(viewer).filter(collection=collection)
    editions = [look(track, viewer).edition for track in tracks.select_related("edition")]
    return collection.judgment_sets.filter(editions__in=filter(None, editions)).distinct()
