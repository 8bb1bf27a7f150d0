"""The link by which organisers invite teams to a track."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from leaderboard.models import Track


def invitation_link(request: HttpRequest, track: Track) -> str:
    """Return the link to share: the task page where anyone can join, else one with a secret."""
    if track.joining == Track.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("task", args=[track.slug]))
    query = urlencode({"invitation": track.invitation})
    return request.build_absolute_uri(f"{reverse('join', args=[track.slug])}?{query}")
