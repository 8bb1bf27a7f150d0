"""The sections in which the settings of a benchmark are shown and saved."""

from __future__ import annotations

from leaderboard.pages.forms.track_sections import Section, SettingsRow

TRACKS = Section("tracks", "Tracks")
WORDS = Section("words", "Words", (SettingsRow(("name",)), SettingsRow(("description",))))
PEOPLE = Section("people", "Who takes part", (SettingsRow(("joining",)), SettingsRow(("terms",))))
RUNS = Section("runs", "Runs accepted", (SettingsRow(("quota_per_day", "quota_total")),))
BOARD = Section("board", "Board", (SettingsRow(("measure", "baseline")),))
BUILDS = Section("builds", "Commits and builds", (SettingsRow(("main_branch", "commit_url")),))
ARCHIVE = Section("archive", "Copy, archive, delete")
SECTIONS = {
    section.name: section for section in (TRACKS, WORDS, PEOPLE, RUNS, BOARD, BUILDS, ARCHIVE)
}
