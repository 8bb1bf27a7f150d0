from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0043_orders")]

    operations = [
        migrations.AlterField(
            model_name="pool",
            name="method",
            field=models.CharField(
                choices=[
                    ("depth", "Top N documents of each run"),
                    ("take", "N documents per topic, best rank first"),
                    ("rrf", "N documents per topic, by reciprocal rank fusion"),
                    ("rbp", "N documents per topic, by RBP weight"),
                    ("sample", "Sample of N documents that check a machine"),
                ],
                default="depth",
                max_length=10,
            ),
        ),
    ]
