from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0042_machine_judgments")]

    operations = [
        migrations.AddField(
            model_name="assessment",
            name="second_round_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="assigneddocument",
            name="marks_before",
            field=models.PositiveIntegerField(null=True),
        ),
    ]
