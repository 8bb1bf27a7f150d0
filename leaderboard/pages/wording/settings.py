"""The settings of a track in a line for each closed group of its form."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.display.numbers import counted
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Track

SCORES = {
    Track.Disclosure.OPEN: "Visible at once",
    Track.Disclosure.LEADERBOARD: "Rounded means, the rest later",
    Track.Disclosure.BLIND: "Hidden until release",
}
READERS = {
    Track.Visibility.PUBLIC: "Everyone sees the track",
    Track.Visibility.MEMBERS: "Participants and those who can join see the track",
}
SHOWN = {
    Track.Selection.ALL: "every run on the board",
    Track.Selection.BEST: "each team’s best run on the board",
    Track.Selection.PRIMARY: "each team’s primary run on the board",
}


def describe_settings(form: forms.Form) -> dict[str, str]:
    """Return a line for each closed group of the form."""
    return {
        "scoring": describe_scoring(form),
        "readers": describe_readers(form),
        "rules": describe_rules(form),
    }


def describe_scoring(form: forms.Form) -> str:
    judged = form["judgment_set"].value()
    parts = [
        SCORES.get(_value(form, "disclosure"), ""),
        "judgments chosen" if judged else "no judgments yet",
        f"relevant from grade {_value(form, 'relevance_threshold')}",
    ]
    return "; ".join(filter(None, parts))


def describe_readers(form: forms.Form) -> str:
    parts = [
        READERS.get(_value(form, "visibility"), ""),
        "pseudonyms until release" if form["pseudonyms"].value() else "",
        "judgments offered as a file" if form["shares_judgments"].value() else "",
        "terms to accept" if form["terms"].value() else "",
    ]
    return "; ".join(filter(None, parts))


def describe_rules(form: forms.Form) -> str:
    parts = [
        _quota(form, "quota_total", "in total"),
        _quota(form, "quota_per_day", "per day"),
        f"up to {_value(form, 'depth')} documents per topic",
        SHOWN.get(_value(form, "selection"), ""),
        f"compared with {branch}" if (branch := _value(form, "main_branch")) else "",
    ]
    return "; ".join(filter(None, parts))


def _quota(form: forms.Form, name: str, when: str) -> str:
    """Say a limit of runs; the value may be what a reader typed."""
    limit = read_whole_number(str(_value(form, name) or ""))
    return f"{counted(limit, 'run')} per team {when}" if limit is not None else ""


def _value(form: forms.Form, name: str) -> Any:
    return form[name].value()
