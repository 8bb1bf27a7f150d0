"""That tracks changed; together the rows of a track are the version of all answers about it."""

from __future__ import annotations

from datetime import datetime, timedelta
from secrets import randbelow

from django.db import models, transaction
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.models.tracks import Track

# Tokens below this are exact in every database, and so is a sum of a thousand of them.
MOST_TOKENS = 2**53
# Rows are replaced by one after this time.
ROWS_KEPT = timedelta(hours=1)


class TrackChangeQuerySet(models.QuerySet["TrackChange"]):
    def merge_old(self, now: datetime | None = None) -> None:
        """Replace the old rows of each track by one new row, so that versions stay quick to read.

        The new token differs, so no version comes back.
        """
        before = (now or timezone.now()) - ROWS_KEPT
        self.exclude(track_id__in=Track.objects.values("pk")).delete()
        old = self.filter(at__lt=before).values_list("track_id", "is_inside")
        several = old.annotate(rows=models.Count("pk")).filter(rows__gt=1)
        for track_id, is_inside, _ in several:
            with transaction.atomic():
                self.filter(track_id=track_id, is_inside=is_inside, at__lt=before).delete()
                # No transaction has a number below 0.
                self.update_or_create(
                    track_id=track_id,
                    is_inside=is_inside,
                    written_in=-1,
                    defaults={"token": randbelow(MOST_TOKENS), "at": timezone.now()},
                )


class TrackChange(models.Model):
    """A transaction that changed what answers about a track show; the database writes the rows.

    Every transaction writes a row of its own, so that none waits for another.
    """

    # Without a constraint, which would lock the row of the track.
    track = models.ForeignKey(
        Track, models.DO_NOTHING, db_constraint=False, related_name="changes", db_index=False
    )
    # Only the track's teams and organisers see such a change.
    is_inside = models.BooleanField()
    # The number of the transaction; 0 on SQLite, where one writes at a time.
    written_in = models.BigIntegerField()
    # A random number.
    token = models.BigIntegerField()
    at = models.DateTimeField(db_default=Now())

    objects = TrackChangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["track", "is_inside", "written_in"],
                name="a_transaction_changes_a_track_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.track_id}: {self.token}"
