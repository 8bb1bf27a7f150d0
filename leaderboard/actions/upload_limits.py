"""How large a body each address takes from each user.

A file is large only where this user may send one; everywhere else a body is as small as a form.
An address that is hidden from a user has the same limit as one that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.http import HttpRequest

from leaderboard.actions.partial_uploads import PIECE_LIMIT
from leaderboard.actions.people import can_join_by_run
from leaderboard.infrastructure.request_bodies import ENVELOPE, FORM_LIMIT, SMALL_BODY
from leaderboard.models import Benchmark, Collection, PartialUpload, Track, User

API = "api-1:"
Address = Mapping[str, Any]


def size_of_run() -> int:
    return settings.RUN_UPLOAD_LIMIT


def size_of_piece() -> int:
    return PIECE_LIMIT


def size_of_file() -> int:
    return settings.COLLECTION_UPLOAD_LIMIT


def size_of_three_files() -> int:
    """Topics, documents and judgments may each be as large as a file may be."""
    return 3 * settings.COLLECTION_UPLOAD_LIMIT


def can_submit(user: User, address: Address) -> bool:
    """Whether the user has a team of the track, organises it or joins it by a first run.

    A benchmark of several tracks takes all runs at the address of one that is alone.
    """
    visible = Track.objects.visible_to(user).select_related("benchmark")
    track = visible.filter(_named(address)).first()
    if track is None:
        return can_submit_systems(user, {"slug": address.get("address", "")})
    return _can_submit_to(track.benchmark, user)


def can_submit_systems(user: User, address: Address) -> bool:
    """Whether the user has a team in the benchmark, organises it or joins it by first runs."""
    benchmark = Benchmark.objects.visible_to(user).filter(slug=address["slug"]).first()
    if benchmark is None:
        return False
    return _can_submit_to(benchmark, user)


def _can_submit_to(benchmark: Benchmark, user: User) -> bool:
    is_inside = benchmark.team_of(user) is not None or benchmark.is_organised_by(user)
    return is_inside or can_join_by_run(benchmark)


def can_add_collection(user: User, address: Address) -> bool:
    return user.may_organise


def can_change_collection(user: User, address: Address) -> bool:
    return Collection.objects.organised_by(user).filter(slug=address["slug"]).exists()


def can_organise_track(user: User, address: Address) -> bool:
    return Track.objects.organised_by(user).filter(_named(address)).exists()


def can_organise_benchmark(user: User, address: Address) -> bool:
    return Benchmark.objects.organised_by(user).filter(slug=address["slug"]).exists()


def _named(address: Address) -> Q:
    """Say which track: pages have its address, calls of the API its short name."""
    return Q(address=address["address"]) if "address" in address else Q(slug=address["slug"])


def can_append(user: User, address: Address) -> bool:
    """Whether the user announced this file."""
    return PartialUpload.objects.filter(user=user, pk=address["upload_id"]).exists()


@dataclass(frozen=True)
class UploadAddress:
    """What an address takes, and whether this user may send it."""

    size: Callable[[], int]
    is_open_to: Callable[[User, Address], bool]

    @property
    def limit(self) -> int:
        return self.size() + ENVELOPE


RUN = UploadAddress(size_of_run, can_submit)
# All files together: a request has no more bytes than one run may have.
SYSTEM = UploadAddress(size_of_run, can_submit_systems)
COLLECTION = UploadAddress(size_of_three_files, can_add_collection)
REPLACEMENTS = UploadAddress(size_of_three_files, can_change_collection)
JUDGMENTS = UploadAddress(size_of_file, can_change_collection)
OF_A_TRACK = UploadAddress(size_of_file, can_organise_track)
OF_A_BENCHMARK = UploadAddress(size_of_file, can_organise_benchmark)

# The views that take files, by the names of their addresses.
UPLOADS = {
    "submit": RUN,
    "benchmark_submit": SYSTEM,
    "new_collection": COLLECTION,
    "check_again": REPLACEMENTS,
    "new_judgments": JUDGMENTS,
    "check_judgments_again": JUDGMENTS,
    "import_answers": JUDGMENTS,
    "judge_pool": OF_A_TRACK,
    "import_mark_files": OF_A_TRACK,
    "import_votes": OF_A_TRACK,
    "new_nuggets": OF_A_TRACK,
    "new_marks": OF_A_TRACK,
    "again_nuggets_of_track": OF_A_TRACK,
    "again_marks_of_track": OF_A_TRACK,
    "reported_results": OF_A_BENCHMARK,
    "again_results_of_benchmark": OF_A_BENCHMARK,
    f"{API}create_run": RUN,
    f"{API}submit_system": SYSTEM,
    # The calls of one address have the name of the first.
    f"{API}get_upload": UploadAddress(size_of_piece, can_append),
    f"{API}create_collection": COLLECTION,
    f"{API}create_judgments": JUDGMENTS,
    f"{API}import_machine_judgments": JUDGMENTS,
    f"{API}replace_judgments": JUDGMENTS,
    f"{API}import_marks": OF_A_TRACK,
    f"{API}list_nuggets": OF_A_TRACK,
    f"{API}get_votes": OF_A_TRACK,
    f"{API}list_layers": OF_A_TRACK,
    f"{API}list_results": OF_A_BENCHMARK,
}


def limit_for(request: HttpRequest, user: User | AnonymousUser) -> int:
    """How many bytes the body of this request may have, sent by this user."""
    match = request.resolver_match
    upload = UPLOADS.get(match.view_name) if match else None
    if upload is not None and user.is_authenticated and upload.is_open_to(user, match.kwargs):
        return upload.limit
    return FORM_LIMIT


def limit_before_token(request: HttpRequest) -> int:
    """The limit of a call, which asks for its token before it reads, or of a page."""
    match = request.resolver_match
    name = match.view_name if match else ""
    if name.startswith(API):
        return UPLOADS[name].limit if name in UPLOADS else FORM_LIMIT
    if not request.user.is_authenticated:
        return SMALL_BODY
    return limit_for(request, request.user)
