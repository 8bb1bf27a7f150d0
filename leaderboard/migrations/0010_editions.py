from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0009_joining")]

    operations = [
        migrations.AddField(
            model_name="edition",
            name="left_at",
            field=models.DateTimeField(null=True),
        ),
    ]
