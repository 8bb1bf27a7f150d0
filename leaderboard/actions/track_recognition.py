"""Which track of a benchmark a run file is for: by its name, else by the topics that it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings

from evaluation.problems import Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.run_names import find_named
from leaderboard.actions.refusals import NotAccepted
from leaderboard.models import Track
from leaderboard.scoring.files import run_limits
from leaderboard.scoring.judgments import load_topic_numbers

# A file is read no further than this many unpacked bytes to find its track.
MOST_READ = 64 * 2**20


@dataclass(frozen=True)
class FoundTrack:
    """The track of a file, and how it was found: by its name or by its topics."""

    track: Track
    by: str


def find_track(name: str, file: BinaryIO, tracks: Sequence[Track]) -> FoundTrack:
    """Return the track of a file; raises NotAccepted, which names the tracks it could be."""
    by_slug = {track.slug: track for track in tracks}
    if named := find_named(name, by_slug):
        return FoundTrack(by_slug[named], "name")
    try:
        fitting = find_tracks_of_topics(file, tracks)
    except Refused as refusal:
        problem = next(refusal.problems.of("error"))
        raise NotAccepted(problem.code, f"{problem.message}. {problem.hint}".strip()) from None
    finally:
        file.seek(0)
    if len(fitting) == 1:
        return FoundTrack(fitting[0], "topics")
    names = ", ".join(track.slug for track in fitting or tracks)
    if fitting:
        message = f"Its topics fit several tracks: {names}. Name the file like its track"
    else:
        message = f"Its topics fit no track. Name the file like its track, one of {names}"
    raise NotAccepted("E_TRACK", f"{message}, as in {(fitting or tracks)[0].slug}.run.gz.")


def find_tracks_of_topics(file: BinaryIO, tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks that have every topic of a file, read until one is left.

    Where several have them all, the one whose topics are all answered is meant.  Raises Refused.
    """
    topics = {track.pk: set(load_topic_numbers(track.collection_id)) for track in tracks}
    left, seen = list(tracks), set()
    for topic in read_topics(unpacked(file, run_limits())):
        if topic in seen:
            continue
        seen.add(topic)
        left = [track for track in left if topic in topics[track.pk]]
        if len(left) < 2:
            return left
    whole = [track for track in left if topics[track.pk] == seen]
    return whole if len(whole) == 1 else left if seen else []


def read_topics(file: BinaryIO) -> Iterator[bytes]:
    """Yield the first column of each line, without headers and comments."""
    most = settings.RUN_LINE_LIMIT
    left = MOST_READ
    while left > 0 and (line := file.readline(most)):
        left -= len(line)
        topic = line.removeprefix(b"\xef\xbb\xbf").split(None, 1)[:1]
        if topic and not topic[0].startswith((b"#", b"<", b"{", b"[")):
            yield topic[0]
