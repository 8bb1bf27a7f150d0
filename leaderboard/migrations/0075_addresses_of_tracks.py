"""Tracks know where their pages are: those of one that is alone are those of its benchmark."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, Q


def write_addresses(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    benchmarks = apps.get_model("leaderboard", "Benchmark").objects.alias(count=Count("tracks"))
    tracks = apps.get_model("leaderboard", "Track").objects.select_related("benchmark")
    several = set(benchmarks.filter(count__gt=1).values_list("pk", flat=True))
    for track in tracks.only("slug", "address", "benchmark__slug").iterator():
        home = track.benchmark.slug
        track.address = f"{home}/tracks/{track.slug}" if track.benchmark_id in several else home
        track.save(update_fields=["address"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0074_moved_dates")]

    operations = [
        migrations.AddField(
            "track",
            "address",
            models.CharField(max_length=140, default="", db_default="", editable=False),
        ),
        migrations.AddConstraint(
            "track",
            models.UniqueConstraint(
                fields=["address"],
                condition=~Q(address=""),
                name="an_address_leads_to_one_track",
            ),
        ),
        migrations.RunPython(write_addresses, migrations.RunPython.noop),
    ]
