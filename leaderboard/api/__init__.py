"""The HTTP API, version 1."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import URLPattern, URLResolver
from django.views.decorators.http import condition, require_safe
from ninja import NinjaAPI, Router
from ninja.openapi.docs import DocsBase
from ninja.openapi.schema import OpenAPISchema
from ninja.responses import Response

from leaderboard.api import (
    agreement,
    assessments,
    battles,
    benchmarks,
    boards,
    collections,
    entrants,
    failed_jobs,
    gates,
    judging,
    machines,
    messages,
    new_collections,
    nugget_drafts,
    nuggets,
    pools,
    registrations,
    reported_results,
    runs,
    series,
    snapshots,
    systems,
    teams,
    tracks,
    uploads,
)
from leaderboard.api.auth import READ
from leaderboard.api.describing import group_calls, split_code
from leaderboard.api.errors import register_error_handlers, with_api_errors
from leaderboard.api.schemas import Me, add_rejections, response_schemas
from leaderboard.models import Track

DESCRIPTION = """\
Send your API token in the header `Authorization: Bearer rf_...`. Create tokens on your account
page or with `manage.py create_token`. Public boards need no token. Lists take `limit` and `after`
and return `{items, next}`. Every error is `{code, message, problems: []}`. Answers omit values
that you may not see. A value of null is undefined.
"""


class Docs(DocsBase):
    """A page of all calls that needs no script.

    The page that Ninja brings runs under our content security policy, but it is empty without
    JavaScript and fails six rules of axe.
    """

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        context = {
            "calls": render_calls(),
            "says": split_code(DESCRIPTION),
            "openapi": self.get_openapi_url(api, kwargs),
            "site": request.build_absolute_uri("/").rstrip("/"),
        }
        return render(request, "site/api_docs.html", context)


class Api(NinjaAPI):
    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        """Return Ninja's URLs, with Ninja's own errors in our shape too."""
        patterns, app, namespace = super().urls
        for pattern in patterns:
            view = kept_document if pattern.name == "openapi-json" else pattern.callback
            pattern.callback = with_api_errors(view)
        return patterns, app, namespace

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**options)
        add_rejections(document)
        return document


# It depends on the code alone, and takes the better part of a second to make.
@cache
def render_document() -> bytes:
    """Return the OpenAPI document as JSON."""
    return Response(api.get_openapi_schema()).content


@cache
def render_calls() -> str:
    """Return the part of the documentation page that describes the calls."""
    return render_to_string(
        "parts/api_calls.html", {"groups": group_calls(api.get_openapi_schema())}
    )


@require_safe
@condition(etag_func=lambda request: f'"{sha256(render_document()).hexdigest()}"')
def kept_document(request: HttpRequest) -> HttpResponse:
    """Answer the OpenAPI document, which is made once in a process."""
    return HttpResponse(render_document(), content_type="application/json")


api = Api(
    title="Rankfield",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api-1",
    docs=Docs(),
)
register_error_handlers(api)
account = Router(tags=["account"])
unknown_paths = Router()


@account.get("/me", auth=READ, response=response_schemas(Me), summary="Get account")
def me(request: HttpRequest) -> dict[str, Any]:
    """Get the token's user, scopes and teams."""
    user = request.auth.user
    tracks = Track.objects.opened().filter(benchmark__memberships__user=user)
    own = tracks.annotate(team=F("benchmark__memberships__team__name")).order_by("slug")
    return {
        "user": user.username,
        "may_organise": user.may_organise,
        "scopes": request.auth.token.scopes,
        "teams": [{"track": track.slug, "team": track.team} for track in own],
    }


@unknown_paths.api_operation(
    ["GET", "POST", "PUT", "PATCH", "DELETE"], "/{path:rest}", include_in_schema=False
)
def answer_unknown_path(request: HttpRequest, rest: str) -> None:
    """Answer an unknown path like one that the viewer may not see."""
    raise Http404("no such call")


api.add_router("/collections", collections.router)
api.add_router("/tracks", tracks.router)
api.add_router("/tracks", boards.of_tracks)
api.add_router("/tracks", snapshots.of_tracks)
api.add_router("/tracks", failed_jobs.router)
api.add_router("/tracks", gates.router)
api.add_router("/tracks", nuggets.router)
api.add_router("/tracks", nugget_drafts.router)
api.add_router("/tracks", pools.router)
api.add_router("/tracks", battles.router)
api.add_router("/tracks", entrants.router)
api.add_router("/benchmarks", benchmarks.router)
api.add_router("/benchmarks", teams.router)
api.add_router("/benchmarks", messages.router)
api.add_router("/benchmarks", registrations.router)
api.add_router("/benchmarks", boards.of_benchmarks)
api.add_router("/benchmarks", new_collections.router)
api.add_router("/benchmarks", reported_results.router)
api.add_router("/benchmarks", series.router)
api.add_router("/benchmarks", snapshots.of_benchmarks)
api.add_router("", runs.router)
api.add_router("/benchmarks", systems.router)
api.add_router("", uploads.router)
api.add_router("", assessments.router)
api.add_router("", agreement.router)
api.add_router("", judging.router)
api.add_router("", machines.router)
api.add_router("", account)
# The last, since it takes every path.
api.add_router("", unknown_paths)
