import django.db.models.deletion
import django.utils.timezone
import leaderboard.models.tracks
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0045_order_trials"),
    ]

    operations = [
        migrations.CreateModel(
            name="System",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("description", models.TextField(blank=True, max_length=5000)),
                ("facts", models.JSONField(blank=True, default=dict)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "ordering": ["name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True, max_length=20000)),
                (
                    "joining",
                    models.CharField(
                        choices=[
                            ("everyone", "Any user; a first run creates the team"),
                            ("invitation", "Anyone with the invitation link"),
                            ("approval", "Teams approved by the organisers"),
                        ],
                        default="everyone",
                        max_length=12,
                    ),
                ),
                (
                    "invitation",
                    models.CharField(
                        default=leaderboard.models.tracks.new_invitation,
                        editable=False,
                        max_length=40,
                    ),
                ),
                ("terms", models.TextField(blank=True, max_length=20000)),
                ("quota_per_day", models.PositiveIntegerField(blank=True, null=True)),
                ("quota_total", models.PositiveIntegerField(blank=True, null=True)),
                ("measure", models.CharField(blank=True, max_length=80)),
                ("main_branch", models.CharField(blank=True, max_length=80)),
                ("commit_url", models.CharField(blank=True, max_length=300)),
                ("badge_code", models.CharField(blank=True, editable=False, max_length=40)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="TaskComparison",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("request", models.JSONField()),
                ("results", models.JSONField(blank=True, default=dict)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TaskSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=60)),
                ("name", models.CharField(max_length=120)),
                ("note", models.TextField(blank=True, max_length=2000)),
                ("caption", models.TextField()),
                ("heads", models.JSONField()),
                ("rows", models.JSONField()),
                ("files", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="TaskTeam",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("of_organisers", models.BooleanField(default=False)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TaskTrack",
            fields=[
                (
                    "track",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="task_place",
                        serialize=False,
                        to="leaderboard.track",
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("phase", models.CharField(blank=True, max_length=60)),
                ("group", models.CharField(blank=True, max_length=60)),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="SystemVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=40)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("branch", models.CharField(blank=True, max_length=80)),
                ("configuration", models.CharField(blank=True, max_length=500)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="leaderboard.system",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.AddField(
            model_name="run",
            name="version",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="runs",
                to="leaderboard.systemversion",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["refused", "failed"]), _negated=True),
                    ("withdrawn_at", None),
                ),
                fields=("version", "track"),
                name="a_version_has_one_run_on_a_track",
            ),
        ),
        migrations.AddField(
            model_name="task",
            name="baseline",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="leaderboard.system",
            ),
        ),
        migrations.AddField(
            model_name="task",
            name="co_organisers",
            field=models.ManyToManyField(blank=True, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="task",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tasks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="system",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="systems",
                to="leaderboard.task",
            ),
        ),
        migrations.AddField(
            model_name="taskcomparison",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comparisons",
                to="leaderboard.task",
            ),
        ),
        migrations.AddField(
            model_name="tasksnapshot",
            name="created_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="tasksnapshot",
            name="editions",
            field=models.ManyToManyField(related_name="+", to="leaderboard.edition"),
        ),
        migrations.AddField(
            model_name="tasksnapshot",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="snapshots",
                to="leaderboard.task",
            ),
        ),
        migrations.AddField(
            model_name="taskteam",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="teams",
                to="leaderboard.task",
            ),
        ),
        migrations.AddField(
            model_name="system",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="systems",
                to="leaderboard.taskteam",
            ),
        ),
        migrations.AddField(
            model_name="team",
            name="task_team",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="teams",
                to="leaderboard.taskteam",
            ),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                fields=("task_team", "track"), name="a_team_of_a_task_is_once_on_a_track"
            ),
        ),
        migrations.AddField(
            model_name="tasktrack",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="places",
                to="leaderboard.task",
            ),
        ),
        migrations.AddConstraint(
            model_name="systemversion",
            constraint=models.UniqueConstraint(
                fields=("system", "label"), name="versions_differ_in_label"
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("commit_url", ""),
                    models.Q(
                        ("commit_url__contains", "{commit}"), ("commit_url__startswith", "https://")
                    ),
                    _connector="OR",
                ),
                name="a_commit_link_of_a_task_has_its_commit",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(("badge_code", ""), _negated=True),
                fields=("badge_code",),
                name="a_badge_code_leads_to_one_task",
            ),
        ),
        migrations.AddConstraint(
            model_name="taskcomparison",
            constraint=models.UniqueConstraint(
                fields=("task", "key"), name="systems_are_compared_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="tasksnapshot",
            constraint=models.UniqueConstraint(
                fields=("task", "slug"), name="a_task_snapshot_has_an_address"
            ),
        ),
        migrations.AddConstraint(
            model_name="taskteam",
            constraint=models.UniqueConstraint(
                condition=models.Q(("of_organisers", True)),
                fields=("task",),
                name="organisers_of_a_task_are_one_team",
            ),
        ),
        migrations.AddConstraint(
            model_name="system",
            constraint=models.UniqueConstraint(
                fields=("team", "name"), name="systems_of_a_team_differ_in_name"
            ),
        ),
    ]
