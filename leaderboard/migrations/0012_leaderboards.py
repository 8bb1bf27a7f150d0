from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0011_desk"),
    ]

    operations = [
        migrations.AlterField(
            model_name="track",
            name="disclosure",
            field=models.CharField(
                choices=[
                    ("open", "Open: everybody sees every score at once"),
                    ("leaderboard", "Leaderboard: rounded means, the rest after the deadline"),
                    ("blind", "Blind: no score before the release"),
                ],
                default="blind",
                max_length=12,
            ),
        ),
    ]
