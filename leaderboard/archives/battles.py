"""Battles in the archive of a track, and back from it.

battles/votes.jsonl    every vote; runs go by their ids in the archive, voters by pseudonyms
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.problems import Refused
from evaluation.reading.judging.votes import read_votes, write_votes
from leaderboard.archives.manifests import Manifest, plain_values
from leaderboard.archives.track_import import Runs, clean_values
from leaderboard.archives.zip_files import Archive, ArchiveError, ZipEntry
from leaderboard.assessments.battles import VoteNames, load_all_votes
from leaderboard.models import Battles, BattleVote, Track

VOTES = "battles/votes.jsonl"


def battle_members(track: Track) -> Iterator[ZipEntry]:
    """Build the member of the votes, if there are any."""
    battles = Battles.objects.filter(track=track).first()
    if battles is not None and battles.votes.cast().of_runs_in_place().exists():
        yield ZipEntry(VOTES, write_votes(load_all_votes(battles, by_id=True)))


def battles_entry(track: Track) -> dict[str, Any] | None:
    """Return how the battles of a track are held; None without battles."""
    battles = Battles.objects.filter(track=track).first()
    return None if battles is None else plain_values(battles)


def restore_battles(archive: Archive, manifest: Manifest, track: Track, runs: Runs) -> None:
    """Restore the battles of a track with their votes, under the pseudonyms of the voters."""
    if manifest.battles is None:
        return
    battles = Battles(track=track, **clean_values(Battles, manifest.battles))
    battles.save()
    if VOTES not in archive:
        return
    topics = dict(track.collection.topics.values_list("number", "pk"))
    names = VoteNames(topics, {old: [run.pk] for old, run in runs.items()}, set())
    try:
        with archive.member(VOTES) as file:
            rows = names.build_all(battles, read_votes(file))
    except Refused as refusal:
        raise ArchiveError(f"its votes: {refusal}") from None
    BattleVote.objects.bulk_create(rows, batch_size=500)
