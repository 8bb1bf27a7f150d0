"""What a viewer may see and do on a track.

It is decided by rows alone, so that notices, jobs, files and boards all ask the same `TrackSight`.
While a track is blind, nothing derived from judgments is visible: no score, no order, not even
whether judgments exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Q, QuerySet
from django.db.models.functions import TruncDay

from leaderboard.models import Assessment, Membership, Run, Team, Track, User
from leaderboard.models.runs import ON_THE_BOARD, RunQuerySet
from leaderboard.sight.readers import Viewer, is_reader

# The states to show on a blind track in place of those that reveal judgments.
BLIND_STATES = {Run.State.SCORING: Run.State.CHECKING, Run.State.SCORED: Run.State.VALID}


def tracks_behind(track: Track) -> set[int]:
    """Return the tracks whose scores a board says something of: its own, and of its systems."""
    truth = track.truth
    return {track.pk} if truth is None else {track.pk, truth.pk}


def judge_scores_of(assessments: QuerySet[Assessment], track: Track) -> bool:
    """Whether someone judges in one of these assessments what the scores of a track depend on."""
    return assessments.filter(track__in=tracks_behind(track)).exists()


@dataclass(frozen=True)
class TrackSight:
    """What one viewer may see and do on one track."""

    track: Track
    viewer: Viewer
    is_organiser: bool
    team: Team | None
    # Whether the viewer judges documents of the track; then the viewer sees no score of it.
    is_assessing: bool = False

    @classmethod
    def of(cls, track: Track, viewer: Viewer) -> Self:
        """Return the viewer's view of a track."""
        return cls(
            track,
            viewer,
            is_organiser=track.is_organised_by(viewer),
            team=track.team_of(viewer),
            is_assessing=judge_scores_of(Assessment.objects.judged_by(viewer), track),
        )

    @classmethod
    def of_each(cls, tracks: Sequence[Track], viewer: Viewer) -> list[Self]:
        """Return the viewer's view of each track, with as few queries as for one."""
        organised = set(Track.objects.organised_by(viewer).values_list("pk", flat=True))
        own = Team.objects.filter(memberships__user=viewer) if viewer.is_authenticated else []
        teams = {team.benchmark_id: team for team in own}
        judged = set(Assessment.objects.judged_by(viewer).values_list("track", flat=True))
        return [
            cls(
                track,
                viewer,
                is_organiser=track.pk in organised,
                team=teams.get(track.benchmark_id),
                is_assessing=not judged.isdisjoint(tracks_behind(track)),
            )
            for track in tracks
        ]

    @classmethod
    def of_everybody(cls, track: Track) -> Self:
        """Return what everyone sees who may know of a track, signed in or not."""
        return cls(track, AnonymousUser(), is_organiser=False, team=None)

    @classmethod
    def of_members(cls, track: Track, members: QuerySet[Membership]) -> Self:
        """Return what all members of a team may see alike: no score while one of them judges."""
        judged = Assessment.objects.judged_by_any(members.values("user"))
        return replace(cls.of_everybody(track), is_assessing=judge_scores_of(judged, track))

    @property
    def deadline(self) -> datetime | None:
        """When runs of the viewer's team are due; other teams do not see a later deadline."""
        return self.track.deadline_of(self.team)

    @property
    def has_own_deadline(self) -> bool:
        """Whether the viewer's team has a later deadline than the track."""
        return self.deadline != self.track.closes_at

    @property
    def state(self) -> Track.State:
        """The state of the track for the viewer's team."""
        return self.track.state(team=self.team)

    @property
    def accepts_runs(self) -> bool:
        """Whether the track accepts runs of the viewer's team, late ones included."""
        return self.track.accepts_runs(team=self.team)

    @property
    def is_inside(self) -> bool:
        """Whether the viewer organises the track or is in a team."""
        return self.is_organiser or self.team is not None

    @property
    def can_take_part(self) -> bool:
        """Whether the viewer is in a team, or may join or ask to, without an invitation link."""
        return self.is_inside or not self.track.benchmark.needs_invitation

    @property
    def can_join(self) -> bool:
        """Whether the viewer may join or ask to, while there is something to take part in."""
        return self.can_take_part and not self.is_inside and not self.is_over

    @property
    def accepts_late_runs(self) -> bool:
        """Whether a run that the viewer's team submits now is accepted and marked late."""
        return self.state == Track.State.CLOSED and self.accepts_runs

    @property
    def is_over(self) -> bool:
        """Whether the track accepts no more runs of the viewer's team."""
        return self.state == Track.State.CLOSED and not self.accepts_runs

    @property
    def can_see_topics(self) -> bool:
        """Whether topics may be shown; before their date organisers alone see them."""
        return self.is_organiser or not self.track.hides_topics

    @property
    def can_see_documents(self) -> bool:
        """Whether documents may be shown; before their date organisers alone see them."""
        return self.is_organiser or not self.track.hides_documents

    @property
    def can_see_data(self) -> bool:
        """Whether both may be shown, and with them what runs retrieved."""
        return self.can_see_topics and self.can_see_documents

    @property
    def can_see_scores(self) -> bool:
        """Whether scores, topics, grades and tests of all ranked runs may be shown."""
        return not self.is_assessing and (self.is_organiser or self.track.shows_scores)

    @property
    def can_see_systems(self) -> bool:
        """Whether the track may be named whose systems the runs rank."""
        truth = self.track.truth
        if truth is None or self.is_organiser:
            return truth is not None
        return Track.objects.visible_to(self.viewer).filter(pk=truth.pk).exists()

    @property
    def can_see_means(self) -> bool:
        """Whether a board may be shown, possibly with rounded means."""
        return not self.is_assessing and (self.is_organiser or self.track.shows_means)

    @property
    def can_see_nuggets(self) -> bool:
        """Whether the texts of nuggets may be shown, as the track says; never on a blind track."""
        track, texts = self.track, Track.NuggetTexts
        if self.is_organiser or track.shares_nuggets == texts.RELEASE:
            return self.is_organiser or self.can_see_scores
        if not track.shows_means or track.shares_nuggets == texts.NEVER:
            return False
        is_early = track.disclosure == Track.Disclosure.LEADERBOARD and not self.can_see_scores
        return track.is_over or (track.shares_nuggets == texts.ALWAYS and not is_early)

    @property
    def can_download_judgments(self) -> bool:
        """Whether the judgments of a fully shown board may be downloaded as a file."""
        if not self.can_see_scores or self.is_organiser:
            return self.can_see_scores
        collection = self.track.collection
        is_offered = self.track.offers_judgments
        return is_offered and is_reader(self.viewer, collection, collection.judgments_readers)

    @property
    def can_download_baseline(self) -> bool:
        """Whether an offered baseline run may be downloaded: from its date on, by its readers."""
        track = self.track
        if self.is_organiser or track.hides_baseline_file:
            return self.is_organiser
        return is_reader(self.viewer, track.collection, track.baseline_readers)

    @property
    def can_compare_judges(self) -> bool:
        """Whether boards by people and by a machine may be shown, with the names of runs."""
        return self.is_organiser or (self.can_see_scores and not self.hides_names)

    def runs(self) -> RunQuerySet:
        """Return every run that exists for this viewer."""
        runs = Run.objects.filter(track=self.track).select_related("team", "track")
        if self.is_organiser:
            return runs
        mine = Q(team=self.team) if self.team is not None else Q(pk__in=[])
        if self.can_see_means:
            return runs.filter(mine | ON_THE_BOARD)
        return runs.filter(mine)

    def own_runs(self) -> RunQuerySet:
        return self.runs().filter(team=self.team) if self.team else self.runs().none()

    def sent_runs(self) -> RunQuerySet:
        """Return the runs of the viewer's team and those that the viewer submitted for others."""
        if not isinstance(self.viewer, User):
            return self.runs().none()
        return self.runs().sent_by(self.viewer)

    def owns(self, run: Run) -> bool:
        return self.team is not None and run.team_id == self.team.pk

    @property
    def hides_names(self) -> bool:
        """Whether this viewer sees pseudonyms of the teams and runs of others."""
        return self.track.hides_names and not self.is_organiser

    def with_arrival(self, runs: RunQuerySet) -> RunQuerySet:
        """Return runs with their `arrival`; under pseudonyms its day, so no order tells more."""
        moment = TruncDay("received_at", tzinfo=UTC) if self.hides_names else F("received_at")
        return runs.annotate(arrival=moment)

    @property
    def can_see_snapshots(self) -> bool:
        """Whether frozen boards may be shown: they contain every score and the names."""
        return self.can_see_scores and not self.hides_names

    def can_see_file(self, run: Run) -> bool:
        """Whether the file and problems of a run may be shown: its team and organisers see them."""
        return self.is_organiser or self.owns(run)

    def can_state_facts(self, run: Run) -> bool:
        """Whether this viewer may state facts of a run: organisers, and its team until release."""
        return self.is_organiser or (self.owns(run) and self.track.released_at is None)

    def can_restore(self, run: Run) -> bool:
        """Whether this viewer may undo a withdrawal: organisers, or the team while open."""
        return self.is_organiser or (self.owns(run) and self.accepts_runs)

    def can_replace(self, run: Run) -> bool:
        """Whether this viewer may replace a run: its team before the deadline."""
        own = self.owns(run) or (self.is_organiser and run.team.of_organisers)
        counts = not run.removal and run.state not in (Run.State.REFUSED, Run.State.FAILED)
        return own and counts and (self.is_organiser or self.state == Track.State.OPEN)

    def state_of(self, run: Run) -> str:
        """Return the state to show; a blind track does not reveal whether judgments exist."""
        return run.state if self.can_see_means else BLIND_STATES.get(run.state, run.state)

    def is_finished(self, run: Run) -> bool:
        return self.state_of(run) in (
            Run.State.REFUSED,
            Run.State.VALID,
            Run.State.SCORED,
            Run.State.FAILED,
        )

    def can_see_removed(self, run: Run) -> bool:
        """Whether this viewer could see the run before it left the board."""
        gone = run.removal in ("withdrawn", "disqualified")
        return self.can_see_means and run.state == Run.State.SCORED and gone
