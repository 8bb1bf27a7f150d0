from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0003_pools")]

    operations = [
        migrations.AddField(
            model_name="judgmentset",
            name="format",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
        migrations.AddField(
            model_name="judgmentset",
            name="relevant_from",
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name="judgmentset",
            name="questions",
            field=models.JSONField(
                blank=True, db_default=models.Value([], models.JSONField()), default=list
            ),
        ),
        migrations.AddField(
            model_name="judgmentset",
            name="changes",
            field=models.FileField(
                blank=True, db_default="", default="", max_length=200, upload_to=""
            ),
        ),
    ]
