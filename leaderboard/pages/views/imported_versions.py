"""Versions that are read from files, on the pages of organisers: their review, and acts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.boards.receipts import ProblemGroup, group_problems
from leaderboard.models import Job
from leaderboard.models.collections import ImportedVersion, ImportState
from leaderboard.pages.views.reviews import IN_PROGRESS

ACTS = ("confirm", "again", "discard")


@dataclass(frozen=True)
class VersionReview:
    """A version that is not imported yet: what its check found, and where it is decided."""

    version: ImportedVersion
    # The page that shows it, and the piece of it that prints what was found.
    page: str
    template: str
    confirm: str
    again: str
    discard: str
    # The job that works on it, if one does.
    job: Job | None

    @property
    def found(self) -> dict[str, Any]:
        found: dict[str, Any] = self.version.preview
        return found

    @property
    def groups(self) -> list[ProblemGroup]:
        return group_problems(self.version.problems, self.version.problem_totals)

    @property
    def anchor(self) -> str:
        return f"{self.version.noun}-{self.version.version}"

    @property
    def is_moving(self) -> bool:
        return self.version.state in IN_PROGRESS


def review_versions(
    versions: Iterable[ImportedVersion], page: str, of: str, template: str
) -> list[VersionReview]:
    """Return those that are not imported.

    `of` is the address of the track, or the short name of the benchmark. The act that confirms
    nuggets of a track is at the URL `confirm_nuggets_of_track`, and so on.
    """
    waiting = [version for version in versions if version.state != ImportState.READY]
    return [_review(version, page, of, template) for version in waiting]


def _review(version: ImportedVersion, page: str, of: str, template: str) -> VersionReview:
    kind = "track" if hasattr(version, "track") else "benchmark"
    acts = {
        act: reverse(f"{act}_{version.noun}_of_{kind}", args=[of, version.version]) for act in ACTS
    }
    open_jobs = Job.objects.open().filter(target_id=str(version.pk))
    own = open_jobs.filter(kind__in=[f"check_{version.noun}", f"import_{version.noun}"])
    return VersionReview(version, reverse(page, args=[of]), template, **acts, job=own.first())


def act_on_version(
    request: HttpRequest, version: ImportedVersion, act: Callable[..., object]
) -> None:
    """Confirm, check again or discard a version; a page says why that is refused."""
    try:
        act(version, request.user)
    except (ActionError, NotAccepted) as reason:
        messages.error(request, str(reason))


def follow_once_done(
    request: HttpRequest, shown: HttpResponse, reviews: Iterable[VersionReview]
) -> HttpResponse:
    """Return the page; to a piece that asks for itself, once it is over, what takes the whole page.

    Its version may have left the page by then. What was said beside it stays.
    """
    asked = request.headers.get("HX-Target", "main")
    if asked == "main" or asked in {review.anchor for review in reviews if review.is_moving}:
        return shown
    return render(request, "parts/version_over.html", {"anchor": asked})
