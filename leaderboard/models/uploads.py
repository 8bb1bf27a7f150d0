"""Files that arrive in pieces, before they become a run."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone

from leaderboard.models.runs import new_run_id


class PartialUploadQuerySet(models.QuerySet["PartialUpload"]):
    def expired(self, now: datetime) -> PartialUploadQuerySet:
        return self.filter(expires_at__lt=now)


class PartialUpload(models.Model):
    """A file that its user announced; the bytes that have arrived are its pieces, without a gap.

    After a run was made of it, it stays for a while, so that a repeated request finds it.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_run_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="uploads")
    name = models.CharField(max_length=120, blank=True)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    objects = PartialUploadQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "sha256"], name="a_file_is_announced_once"),
            models.CheckConstraint(condition=models.Q(size__gt=0), name="an_upload_has_bytes"),
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.size:,} bytes"

    @property
    def received(self) -> int:
        """How many bytes have arrived."""
        found: int | None = self.pieces.aggregate(total=models.Sum("size"))["total"]
        return found or 0


class UploadPiece(models.Model):
    """Bytes of a file, from `offset` on."""

    upload = models.ForeignKey(PartialUpload, models.CASCADE, related_name="pieces")
    offset = models.BigIntegerField()
    size = models.BigIntegerField()
    file = models.FileField(max_length=200)

    class Meta:
        ordering = ["offset"]
        constraints = [
            models.UniqueConstraint(fields=["upload", "offset"], name="a_piece_is_stored_once"),
        ]

    def __str__(self) -> str:
        return f"{self.size:,} bytes from {self.offset:,}"
