from django.db import migrations

from leaderboard.models.people import team_key


def renew(apps, schema_editor):
    """Keys take more for the same; where two teams shared one then, the later keeps its own."""
    Team = apps.get_model("leaderboard", "Team")
    taken = set(Team.objects.values_list("track", "key"))
    for team in Team.objects.order_by("pk"):
        key = team_key(team.name)
        if (team.track_id, key) not in taken:
            taken.add((team.track_id, key))
            Team.objects.filter(pk=team.pk).update(key=key)


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0022_badge_codes"),
    ]

    operations = [
        migrations.RunPython(renew, migrations.RunPython.noop, elidable=True),
    ]
