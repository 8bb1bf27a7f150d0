"""The news feed of a public board."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from leaderboard.boards.standings import Board, Standing, find_visible_board
from leaderboard.display.numbers import score
from leaderboard.models import Announcement, Track
from leaderboard.pages.views.lookups import public_sight_or_404

LATEST = 50


@dataclass(frozen=True)
class FeedEntry:
    """One entry of the feed: a new run or an announcement."""

    at: datetime
    title: str
    text: str
    address: str


class TrackFeed(Feed):
    """The feed of a board as the public sees it; without a public board there is no feed."""

    feed_type = Atom1Feed

    def get_object(self, request: HttpRequest, address: str) -> Board:
        board = find_visible_board(public_sight_or_404(request, address))
        if board is None:
            raise Http404("no board to see")
        return board

    def title(self, board: Board) -> str:
        return _remove_control_characters(board.sight.track.name)

    def subtitle(self, board: Board) -> str:
        words = f"New runs by {board.measure}, and what the organisers announce."
        said = board.who_judged.full_text
        return _remove_control_characters(f"{words} They are {said}." if said else words)

    def link(self, board: Board) -> str:
        return reverse("board", args=[board.sight.track.address])

    def items(self, board: Board) -> list[FeedEntry]:
        track = board.sight.track
        news = [_run_entry(board, standing) for standing in board.standings]
        news += [
            _announcement_entry(track, announcement)
            for announcement in track.announcements.all()[:LATEST]
        ]
        return sorted(news, key=lambda each: each.at, reverse=True)[:LATEST]

    def item_title(self, item: FeedEntry) -> str:
        return item.title

    def item_description(self, item: FeedEntry) -> str:
        return item.text

    def item_link(self, item: FeedEntry) -> str:
        return item.address

    def item_pubdate(self, item: FeedEntry) -> datetime:
        return item.at

    def item_updateddate(self, item: FeedEntry) -> datetime:
        return item.at


def _run_entry(board: Board, standing: Standing) -> FeedEntry:
    run = standing.run
    value = f"{board.measure} {score(standing.scores[board.measure], board.decimals)}"
    place = f", rank {standing.rank} of {len(board.ranked)}" if standing.rank else ""
    title = _remove_control_characters(f"{run} by {run.team}")
    return FeedEntry(run.received_at, title, f"{value}{place}", reverse("run", args=[run.pk]))


def _announcement_entry(track: Track, announcement: Announcement) -> FeedEntry:
    address = f"{reverse('overview', args=[track.address])}#announcement-{announcement.pk}"
    return FeedEntry(
        announcement.created_at,
        "Announcement",
        _remove_control_characters(announcement.text),
        address,
    )


def _remove_control_characters(text: str) -> str:
    """Remove the control characters that XML cannot contain."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")
