"""Where the people of a benchmark will be; the next migration moves them."""

import django.db.models.deletion
from django.db import migrations, models

CASCADE = django.db.models.deletion.CASCADE


def link(to, **options):
    return models.ForeignKey(null=True, on_delete=CASCADE, related_name="+", to=to, **options)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0067_affiliations")]

    operations = [
        # What would refuse people while they move.
        migrations.RemoveConstraint("team", "a_team_of_a_benchmark_is_once_on_a_track"),
        migrations.RemoveConstraint("team", "team_names_differ_in_a_track"),
        migrations.RemoveConstraint("team", "organisers_of_a_track_are_one_team"),
        migrations.RemoveConstraint("team", "aliases_differ_in_a_track"),
        migrations.RemoveConstraint("membership", "one_team_a_person_and_track"),
        migrations.RemoveConstraint("joinrequest", "one_asks_once_a_track"),
        migrations.RemoveConstraint("run", "the_same_bytes_are_one_run_of_a_team"),
        migrations.RemoveConstraint("run", "a_team_has_one_primary_run"),
        migrations.RemoveConstraint("system", "systems_of_a_team_differ_in_name"),
        migrations.RemoveConstraint("benchmarkteam", "organisers_of_a_benchmark_are_one_team"),
        migrations.CreateModel(
            name="Participation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("alias", models.CharField(editable=False, max_length=8)),
                ("closes_at", models.DateTimeField(editable=False, null=True)),
                (
                    "extension_reason",
                    models.CharField(db_default="", default="", editable=False, max_length=300),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=CASCADE, related_name="participations", to="leaderboard.team"
                    ),
                ),
                (
                    "track",
                    models.ForeignKey(
                        on_delete=CASCADE, related_name="participations", to="leaderboard.track"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "track"), name="a_team_is_once_on_a_track"
                    ),
                    models.UniqueConstraint(
                        fields=("track", "alias"), name="aliases_differ_in_a_track"
                    ),
                ],
            },
        ),
        migrations.AddField("track", "benchmark", link("leaderboard.benchmark")),
        migrations.AddField(
            "track", "position", models.PositiveSmallIntegerField(default=0, editable=False)
        ),
        migrations.AddField(
            "track",
            "phase",
            models.CharField(blank=True, default="", editable=False, max_length=60),
        ),
        migrations.AddField(
            "track",
            "group",
            models.CharField(blank=True, default="", editable=False, max_length=60),
        ),
        migrations.AddField("team", "benchmark", link("leaderboard.benchmark")),
        migrations.AddField("membership", "benchmark", link("leaderboard.benchmark")),
        migrations.AddField("joinrequest", "benchmark", link("leaderboard.benchmark")),
        migrations.AddField("grant", "track", link("leaderboard.track")),
        migrations.AddField("system", "own_team", link("leaderboard.team")),
        migrations.AddField(
            "auditevent",
            "benchmark",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="events",
                to="leaderboard.benchmark",
            ),
        ),
    ]
