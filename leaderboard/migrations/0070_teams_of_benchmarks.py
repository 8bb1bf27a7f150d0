"""What the people of a track were stored in goes away."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

DELETION = django.db.models.deletion


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0069_move_people"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveField("system", "team"),
        migrations.RenameField("system", "own_team", "team"),
        migrations.AlterField(
            "system",
            "team",
            models.ForeignKey(
                on_delete=DELETION.PROTECT, related_name="systems", to="leaderboard.team"
            ),
        ),
        migrations.AddConstraint(
            "system",
            models.UniqueConstraint(
                fields=("team", "name"), name="systems_of_a_team_differ_in_name"
            ),
        ),
        *(
            migrations.RemoveField("team", name)
            for name in ("benchmark_team", "track", "alias", "closes_at", "extension_reason")
        ),
        migrations.DeleteModel("BenchmarkTeam"),
        migrations.DeleteModel("BenchmarkTrack"),
        migrations.RemoveConstraint("track", "a_commit_link_has_its_commit"),
        *(
            migrations.RemoveField("track", name)
            for name in (
                *("owner", "co_organisers", "joining", "invitation", "terms"),
                *("main_branch", "commit_url"),
            )
        ),
        migrations.RemoveField("membership", "track"),
        migrations.RemoveField("joinrequest", "track"),
        migrations.AlterField(
            "track",
            "benchmark",
            models.ForeignKey(
                on_delete=DELETION.PROTECT, related_name="tracks", to="leaderboard.benchmark"
            ),
        ),
        migrations.AlterField(
            "team",
            "benchmark",
            models.ForeignKey(
                on_delete=DELETION.CASCADE, related_name="teams", to="leaderboard.benchmark"
            ),
        ),
        migrations.AlterField(
            "membership",
            "benchmark",
            models.ForeignKey(
                on_delete=DELETION.CASCADE, related_name="memberships", to="leaderboard.benchmark"
            ),
        ),
        migrations.AlterField(
            "joinrequest",
            "benchmark",
            models.ForeignKey(
                on_delete=DELETION.CASCADE, related_name="join_requests", to="leaderboard.benchmark"
            ),
        ),
        migrations.AlterField(
            "grant",
            "track",
            models.ForeignKey(
                on_delete=DELETION.CASCADE, related_name="grants", to="leaderboard.track"
            ),
        ),
        migrations.AddConstraint(
            "team",
            models.UniqueConstraint(
                fields=("benchmark", "key"), name="team_names_differ_in_a_benchmark"
            ),
        ),
        migrations.AddConstraint(
            "team",
            models.UniqueConstraint(
                condition=Q(of_organisers=True),
                fields=("benchmark",),
                name="organisers_of_a_benchmark_are_one_team",
            ),
        ),
        migrations.AddConstraint(
            "membership",
            models.UniqueConstraint(
                fields=("benchmark", "user"), name="one_team_a_person_and_benchmark"
            ),
        ),
        migrations.AddConstraint(
            "joinrequest",
            models.UniqueConstraint(
                fields=("benchmark", "user"), name="one_asks_once_a_benchmark"
            ),
        ),
        migrations.AddConstraint(
            "run",
            models.UniqueConstraint(
                condition=~Q(state__in=["refused", "failed"])
                & Q(withdrawn_at=None, version=None),
                fields=("track", "team", "sha256"),
                name="the_same_bytes_are_one_run_of_a_team_on_a_track",
            ),
        ),
        migrations.AddConstraint(
            "run",
            models.UniqueConstraint(
                condition=Q(is_primary=True, state__in=["valid", "scored"], withdrawn_at=None),
                fields=("track", "team"),
                name="a_team_has_one_primary_run_on_a_track",
            ),
        ),
    ]
