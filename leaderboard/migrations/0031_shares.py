from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0030_fingerprints"),
    ]

    operations = [
        migrations.AddField(
            model_name="collection",
            name="size",
            field=models.BigIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddField(
            model_name="judgmentset",
            name="size",
            field=models.BigIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddField(
            model_name="job",
            name="share",
            field=models.CharField(db_default="", default="", editable=False, max_length=40),
        ),
        migrations.AddField(
            model_name="job",
            name="turn",
            field=models.IntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["state", "priority", "turn", "id"], name="jobs_in_turn"
            ),
        ),
    ]
