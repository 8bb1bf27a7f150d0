"""What jobs calculate is kept in one table; it was in four."""

import django.db.models.deletion
from django.db import migrations, models


def move_results(apps, schema_editor):
    """Keep what was calculated, under its new key."""
    get = lambda name: apps.get_model("leaderboard", name).objects  # noqa: E731
    add = get("Calculation").create
    for row in get("Comparison").iterator(chunk_size=100):
        against = row.baseline_id or "each other"
        add(
            kind="tests",
            edition_id=row.edition_id,
            key=f"{row.test} by {row.measure} against {against}",
            request={"measure": row.measure, "baseline": row.baseline_id, "test": row.test},
            results={"family": row.family, "tests": row.results} if row.family else {},
            **find_state(bool(row.family), row.created_at, row.failed_at),
        )
    for row in get("BenchmarkComparison").iterator(chunk_size=100):
        add(
            kind="contest",
            benchmark_id=row.benchmark_id,
            key=row.key,
            request=row.request,
            results=row.results,
            **find_state(bool(row.results), row.created_at, row.failed_at),
        )
    for row in get("JudgeBoards").iterator(chunk_size=100):
        versions = [] if row.assessment_id else [row.first_id, row.second_id]
        judges = f"assessors of {row.assessment_id}"
        if versions:
            judges = "versions {} and {}".format(*versions)
        judged = {"assessment": row.assessment_id, "versions": versions}
        add(
            kind="judges",
            track_id=row.track_id,
            key=f"{row.measure} by {judges}",
            request={"measure": row.measure, **judged},
            basis=row.basis,
            results=row.results,
            **find_state(bool(row.results), row.computed_at, None),
        )
    for row in get("OrderTrial").iterator(chunk_size=100):
        add(
            kind="orders",
            edition_id=row.edition_id,
            key=row.measure,
            request={"measure": row.measure},
            results=row.results,
            **find_state(bool(row.results), row.computed_at, None),
        )
    # Their jobs would look for the former rows; pages ask for what is still missing.
    jobs = get("Job").filter(state="queued")
    jobs.filter(kind__in=["compare_systems", "judge_boards", "try_orders"]).delete()


def find_state(is_made, computed_at, failed_at):
    state = "made" if is_made else "failed" if failed_at else "asked"
    return {
        "state": state,
        "computed_at": computed_at if is_made else None,
        "failed_at": failed_at,
    }


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0057_benchmarks")]

    operations = [
        migrations.CreateModel(
            name="Calculation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("tests", "Tests"),
                            ("contest", "Contest"),
                            ("judges", "Judges"),
                            ("orders", "Orders"),
                        ],
                        max_length=10,
                    ),
                ),
                ("key", models.CharField(max_length=250)),
                ("request", models.JSONField()),
                ("basis", models.CharField(blank=True, default="", max_length=64)),
                ("results", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("asked", "Asked"), ("made", "Made"), ("failed", "Failed")],
                        default="asked",
                        max_length=10,
                    ),
                ),
                ("failed_at", models.DateTimeField(editable=False, null=True)),
                ("computed_at", models.DateTimeField(editable=False, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calculations",
                        to="leaderboard.benchmark",
                    ),
                ),
                (
                    "edition",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calculations",
                        to="leaderboard.edition",
                    ),
                ),
                (
                    "track",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calculations",
                        to="leaderboard.track",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="calculation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("edition__isnull", False)),
                fields=("edition", "kind", "key"),
                name="a_calculation_of_this_edition_is_kept_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="calculation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("track__isnull", False)),
                fields=("track", "kind", "key"),
                name="a_calculation_of_this_track_is_kept_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="calculation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("benchmark__isnull", False)),
                fields=("benchmark", "kind", "key"),
                name="a_calculation_of_this_benchmark_is_kept_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="calculation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("benchmark", None), ("edition__isnull", False), ("track", None)),
                    models.Q(("benchmark", None), ("edition", None), ("track__isnull", False)),
                    models.Q(("benchmark__isnull", False), ("edition", None), ("track", None)),
                    _connector="OR",
                ),
                name="a_calculation_has_one_owner",
            ),
        ),
        migrations.RunPython(move_results, migrations.RunPython.noop),
        migrations.DeleteModel("BenchmarkComparison"),
        migrations.DeleteModel("Comparison"),
        migrations.DeleteModel("JudgeBoards"),
        migrations.DeleteModel("OrderTrial"),
    ]
