"""Notices of a user and webhooks of a track."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import tracks
from leaderboard.models import Delivery, Notice
from leaderboard.notifications.notices import mark_read
from leaderboard.pages.forms.people import WebhookForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_sight_or_403

LATEST = 100


@login_required
@require_http_methods(["GET", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """Show the latest notices: whoever sees them has read them. A POST marks all as read."""
    unread = Notice.objects.unread_by(request.user)
    if request.method == "POST":
        mark_read(unread)
        return redirect("notices")
    found = list(request.user.notices.select_related("track")[:LATEST])
    response = render(request, "site/notices.html", {"notices": found})
    mark_read(unread.filter(pk__in=[notice.pk for notice in found]))
    return response


@login_required
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, address: str) -> HttpResponse:
    sight = organised_sight_or_403(request, address)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form, "url"):
            tracks.add_webhook(sight.track, request.user, **form.cleaned_data)
            return redirect("webhooks", address=address)
    context = {
        "sight": sight,
        "track": sight.track,
        "form": form,
        "webhooks": shorten(request, "webhooks", "webhook", sight.track.webhooks.all()),
        "deliveries": shorten(
            request,
            "deliveries",
            "delivery,deliveries",
            Delivery.objects.filter(webhook__track=sight.track).select_related("webhook"),
        ),
    }
    return render(request, "track/webhooks.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def switch_on_webhook(request: HttpRequest, address: str, webhook_id: int) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    tracks.switch_on_webhook(track, request.user, webhook_id)
    return redirect("webhooks", address=address)


@login_required
@require_POST
def remove_webhook(request: HttpRequest, address: str, webhook_id: int) -> HttpResponse:
    track = organised_sight_or_403(request, address).track
    tracks.remove_webhook(track, request.user, webhook_id)
    return redirect("webhooks", address=address)
