from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0029_plain_labels"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="fingerprint",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["track", "fingerprint"], name="runs_of_the_same_rankings"
            ),
        ),
    ]
