"""Presets of a new track: five usual kinds, each with values for the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.models import Benchmark, Track


@dataclass(frozen=True)
class Preset:
    """A kind of track; `values` replace the defaults of the form."""

    name: str
    title: str
    purpose: str
    points: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)


OPEN_BOARD = Preset(
    "open",
    "Open board",
    "Scores appear at once. Good for known test collections.",
    ("everyone sees it", "no deadline", "the site’s run limit"),
)
PRESETS = {
    preset.name: preset
    for preset in (
        OPEN_BOARD,
        Preset(
            "shared-task",
            "Shared task with a blind phase",
            "Teams submit runs, then judging follows. All scores appear on the same day.",
            ("scores hidden until release", "20 runs per team", "judgments can be downloaded"),
            {
                "disclosure": Track.Disclosure.BLIND,
                "quota_total": 20,
                "quota_per_day": None,
                "shares_judgments": True,
            },
        ),
        Preset(
            "internal",
            "Internal leaderboard",
            "For one company or lab, with new runs every week or every night.",
            ("users of this site only", "each run compared with main", "unlimited runs, from CI"),
            {
                "visibility": Track.Visibility.MEMBERS,
                "selection": Track.Selection.BEST,
                "quota_per_day": None,
                "main_branch": "main",
            },
        ),
        Preset(
            "classroom",
            "Classroom",
            "Students compete on half of the topics; the other half decides.",
            ("join by link", "3 runs per day", "names hidden until release"),
            {
                "disclosure": Track.Disclosure.LEADERBOARD,
                "public_share": 50,
                "visibility": Track.Visibility.MEMBERS,
                "joining": Benchmark.Joining.INVITATION,
                "quota_per_day": 3,
                "pseudonyms": True,
            },
        ),
        Preset(
            "answers",
            "Generated answers",
            "Systems answer in sentences that cite documents of the collection.",
            ("checked by the rules you choose", "what they cite is scored", "scores at once"),
            {"run_kind": "answers", "measures": ["nDCG@10", "Grade", "Judged", "P@5"]},
        ),
    )
}


def find_preset(name: str) -> Preset:
    return PRESETS.get(name, OPEN_BOARD)
