import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0044_sample_pools")]

    operations = [
        migrations.CreateModel(
            name="OrderTrial",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("measure", models.CharField(max_length=128)),
                ("results", models.JSONField(blank=True, default=dict)),
                ("computed_at", models.DateTimeField(editable=False, null=True)),
                (
                    "edition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="order_trials",
                        to="leaderboard.edition",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("edition", "measure"), name="orders_are_tried_once"
                    )
                ],
            },
        ),
    ]
