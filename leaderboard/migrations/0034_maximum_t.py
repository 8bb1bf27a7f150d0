"""New tracks test by maximum t; tests stored under the names of before are made anew."""

from django.db import migrations, models


def forget_old_tests(apps, schema_editor):
    """Delete comparisons of all pairs by Tukey's HSD and of the shift bootstrap."""
    apps.get_model("leaderboard", "Comparison").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0001_squashed_0033_run_fixes")]

    operations = [
        migrations.AlterField(
            "track",
            "test",
            models.CharField(
                choices=[
                    ("max_t", "Maximum-t test (sign flips)"),
                    ("sign_flip", "Sign-flip randomisation test"),
                    ("t", "Paired t test"),
                    ("wilcoxon", "Wilcoxon signed-rank test"),
                    ("sign", "Sign test"),
                    ("bootstrap", "Studentised bootstrap test"),
                ],
                default="max_t",
                max_length=20,
            ),
        ),
        migrations.RunPython(forget_old_tests, migrations.RunPython.noop),
    ]
