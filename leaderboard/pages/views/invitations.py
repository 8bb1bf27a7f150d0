"""The link by which organisers invite teams to a track or a task."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from leaderboard.models import Task, TaskTrack, Track


def invitation_link(request: HttpRequest, track: Track) -> str:
    """Return the link to share: the task page where anyone can join, else one with a secret."""
    place = TaskTrack.objects.filter(track=track).select_related("task").first()
    if place is not None:
        return task_invitation_link(request, place.task)
    if track.joining == Track.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("task", args=[track.slug]))
    query = urlencode({"invitation": track.invitation})
    return request.build_absolute_uri(f"{reverse('join', args=[track.slug])}?{query}")


def task_invitation_link(request: HttpRequest, task: Task) -> str:
    """Return the link to share: the home page where anyone can join, else one with a secret."""
    if task.joining == Track.Joining.EVERYONE:
        return request.build_absolute_uri(reverse("task_home", args=[task.slug]))
    query = urlencode({"invitation": task.invitation})
    return request.build_absolute_uri(f"{reverse('task_join', args=[task.slug])}?{query}")
