"""A group of tracks is a benchmark, and the texts of a track are its overview."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KINDS = {
    "task": "benchmark",
    "taskpage": "overview",
    "tasksnapshot": "benchmarksnapshot",
    "taskteam": "benchmarkteam",
}


def rename_kinds(apps, schema_editor):
    """Call what the log names as it is called now."""
    events = apps.get_model("leaderboard", "AuditEvent").objects
    for before, after in KINDS.items():
        events.filter(target_kind=before).update(target_kind=after)
    events.filter(act="fill holes").update(act="fill unjudged")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0056_copies_of_pages_and_failed_tests")]

    operations = [
        migrations.RemoveConstraint(
            model_name="task",
            name="a_commit_link_of_a_task_has_its_commit",
        ),
        migrations.RemoveConstraint(
            model_name="task",
            name="a_badge_code_leads_to_one_task",
        ),
        migrations.RemoveConstraint(
            model_name="taskcomparison",
            name="systems_are_compared_once",
        ),
        migrations.RemoveConstraint(
            model_name="tasksnapshot",
            name="a_task_snapshot_has_an_address",
        ),
        migrations.RemoveConstraint(
            model_name="taskteam",
            name="organisers_of_a_task_are_one_team",
        ),
        migrations.RemoveConstraint(
            model_name="team",
            name="a_team_of_a_task_is_once_on_a_track",
        ),
        migrations.RenameModel("Task", "Benchmark"),
        migrations.RenameModel("TaskTrack", "BenchmarkTrack"),
        migrations.RenameModel("TaskTeam", "BenchmarkTeam"),
        migrations.RenameModel("TaskSnapshot", "BenchmarkSnapshot"),
        migrations.RenameModel("TaskComparison", "BenchmarkComparison"),
        migrations.RenameModel("TaskPage", "Overview"),
        migrations.RenameField("BenchmarkTrack", "task", "benchmark"),
        migrations.RenameField("BenchmarkTeam", "task", "benchmark"),
        migrations.RenameField("System", "task", "benchmark"),
        migrations.RenameField("BenchmarkComparison", "task", "benchmark"),
        migrations.RenameField("BenchmarkSnapshot", "task", "benchmark"),
        migrations.RenameField("Team", "task_team", "benchmark_team"),
        migrations.AlterField(
            model_name="benchmark",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="benchmarks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="benchmarktrack",
            name="track",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="benchmark_place",
                serialize=False,
                to="leaderboard.track",
            ),
        ),
        migrations.AlterField(
            model_name="overview",
            name="track",
            field=models.OneToOneField(
                editable=False,
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="overview",
                serialize=False,
                to="leaderboard.track",
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmark",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("commit_url", ""),
                    models.Q(
                        ("commit_url__contains", "{commit}"), ("commit_url__startswith", "https://")
                    ),
                    _connector="OR",
                ),
                name="a_commit_link_of_a_benchmark_has_its_commit",
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmark",
            constraint=models.UniqueConstraint(
                condition=models.Q(("badge_code", ""), _negated=True),
                fields=("badge_code",),
                name="a_badge_code_leads_to_one_benchmark",
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmarkcomparison",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "key"), name="systems_are_compared_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmarksnapshot",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "slug"), name="a_benchmark_snapshot_has_an_address"
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmarkteam",
            constraint=models.UniqueConstraint(
                condition=models.Q(("of_organisers", True)),
                fields=("benchmark",),
                name="organisers_of_a_benchmark_are_one_team",
            ),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                fields=("benchmark_team", "track"), name="a_team_of_a_benchmark_is_once_on_a_track"
            ),
        ),
        migrations.RunPython(rename_kinds, migrations.RunPython.noop),
    ]
