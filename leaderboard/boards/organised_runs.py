"""All runs of a track for its organisers, whatever their state: rows, columns and filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from allauth.account.models import EmailAddress

from evaluation.answers.any_measure import parse_measure
from leaderboard.boards.columns import (
    DATE,
    JUDGED,
    RUN_OR_LATE,
    TEAM,
    Column,
    measure_column,
    sort_rows,
)
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.rows import Choice
from leaderboard.display.numbers import MISSING
from leaderboard.models import Run
from leaderboard.scoring.scores import EditionMeans, load_means

# The scores of a run with a lower Judged@10 are unreliable.
WELL_JUDGED = 0.5
STATE = Column(
    "state",
    "State",
    ("state",),
    lambda row: (row.state,),
    lambda row: row.state,
    order=lambda row: row.state,
    kind="state",
    is_words=True,
    on_phone=True,
)
SYSTEM = Column(
    "system",
    "System",
    ("system",),
    lambda row: (row.system,),
    lambda row: row.system,
    order=lambda row: row.system.casefold() or None,
    is_words=True,
)
PRIMARY = Column(
    "primary",
    "Primary",
    ("primary",),
    lambda row: (row.run.is_primary,),
    lambda row: "primary" if row.run.is_primary else "",
    order=lambda row: row.run.is_primary,
    falls=True,
    is_words=True,
)
PRIORITY = Column(
    "priority",
    "Priority",
    ("priority",),
    lambda row: (row.run.facts.get("priority"),),
    lambda row: str(row.run.facts.get("priority", MISSING)),
    order=lambda row: row.run.facts.get("priority"),
    detail="for the pool",
)
CONTACT = Column(
    "contact",
    "Contact",
    ("contact", "email"),
    lambda row: (row.contact, row.email),
    lambda row: row.contact,
    order=lambda row: row.contact.casefold(),
    kind="contact",
    is_words=True,
)


@dataclass(frozen=True)
class OrganisedRun:
    """A run as its organisers see it: a row of their table."""

    run: Run
    # Its state, or how it was removed since.
    state: str
    # The address of who submitted it, if it is confirmed.
    email: str
    mean: float | None = None
    judged_at_10: float | None = None
    is_baseline: bool = False
    # No board ranks or tests these rows.
    rank: None = None
    interval: None = None
    against: None = None
    verdict: str = ""
    breaks_after: bool = False
    is_own: bool = False
    has_pseudonym: bool = False

    @property
    def key(self) -> str:
        return self.run.pk

    @property
    def name(self) -> str:
        return str(self.run)

    full_name = name

    @property
    def team(self) -> str:
        return self.run.team.name

    @property
    def at(self) -> datetime:
        return self.run.received_at

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    @property
    def system(self) -> str:
        version = self.run.version
        return f"{version.system.name} {version.label}".strip() if version is not None else ""

    @property
    def contact(self) -> str:
        return self.run.submitted_by.display_name


@dataclass(frozen=True, kw_only=True)
class OrganisedChoice(Choice):
    """What an organiser chooses among all runs."""

    state: str = ""
    # "low" for runs with a Judged@10 below WELL_JUDGED.
    judged: str = ""
    # "late" for late runs alone.
    late: str = ""

    @property
    def has_filters(self) -> bool:
        return bool(self.team or self.text or self.state or self.judged or self.late)

    def keeps(self, row: OrganisedRun) -> bool:
        """Whether the filters leave this row."""
        text, share = self.text.casefold(), row.judged_at_10
        named = (row.name, row.team, row.contact, row.email, row.system)
        return (
            self.team in ("", row.team)
            and self.state in ("", row.state)
            and (self.late != "late" or row.run.is_late)
            and (self.judged != "low" or (share is not None and share < WELL_JUDGED))
            and any(text in word.casefold() for word in named)
        )


@dataclass(frozen=True)
class OrganisedRuns:
    """All runs of a track, the latest first, and those that an organiser asked for."""

    sight: Sight
    rows: Sequence[OrganisedRun]
    choice: OrganisedChoice
    noun: str = "run"
    home: str = DATE.name
    baseline: None = None
    compares_all: bool = False

    @cached_property
    def shown(self) -> list[OrganisedRun]:
        """The rows that the filters leave, in the order asked for."""
        kept = [row for row in self.rows if self.choice.keeps(row)]
        return sort_rows(kept, self.choice, self.columns_of_table)

    @property
    def columns_of_table(self) -> list[Column]:
        """Every column; scores where this organiser sees them, systems where a run has one."""
        measure = self.sight.primary_measure
        mean = measure_column(
            measure,
            measure,
            lambda row: row.mean,
            None,
            falls=parse_measure(measure).direction > 0,
            rounded=self.sight.decimals,
            kind="mean",
            field="mean",
        )
        scores = [mean, replace(JUDGED, kind="mean")]
        has_systems = any(row.system for row in self.rows)
        return [
            *(RUN_OR_LATE, TEAM, STATE),
            *([SYSTEM] if has_systems else []),
            *(PRIMARY, PRIORITY),
            *(scores if self.sight.shown_edition is not None else []),
            *(CONTACT, DATE),
        ]

    @property
    def states(self) -> list[tuple[str, int]]:
        """The states of the runs, each with how many there are, the most frequent first."""
        return Counter(row.state for row in self.rows).most_common()

    @property
    def teams(self) -> list[str]:
        return sorted({row.team for row in self.rows}, key=str.casefold)


def find_organised_runs(sight: Sight, choice: OrganisedChoice) -> OrganisedRuns:
    """Return every run of the track, for an organiser of it."""
    people = ("submitted_by", "version__system", "track__collection")
    runs = list(sight.runs().select_related("team", *people))
    edition = sight.shown_edition
    measured = EditionMeans({}, {}) if edition is None else load_means(edition)
    means, emails = measured.by(sight.primary_measure), _find_emails(runs)
    rows = [
        OrganisedRun(
            run,
            run.removal or sight.state_of(run),
            emails.get(run.submitted_by_id, ""),
            means.get(run.pk) if sight.can_see_means_of(run) else None,
            measured.judged.get(run.pk) if sight.can_see_means_of(run) else None,
            is_baseline=run.pk == sight.track.baseline_id,
        )
        for run in runs
    ]
    return OrganisedRuns(sight, rows, choice)


def _find_emails(runs: Sequence[Run]) -> dict[int, str]:
    """Return the confirmed address of who submitted each run, by user."""
    senders = {run.submitted_by_id for run in runs}
    confirmed = EmailAddress.objects.filter(user__in=senders, verified=True, user__is_active=True)
    return dict(confirmed.values_list("user", "email"))
