import secrets

from django.db import migrations

# As leaderboard.models.people had it then.
SIGNS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def complete(apps, schema_editor):
    """Teams from before there were invitations or aliases get both."""
    Team = apps.get_model("leaderboard", "Team")
    taken = set(Team.objects.exclude(alias="").values_list("track", "alias"))
    for team in Team.objects.all():
        while not team.alias or (team.track_id, team.alias) in taken:
            team.alias = "".join(secrets.choice(SIGNS) for _ in range(4))
        taken.add((team.track_id, team.alias))
        team.invitation = team.invitation or secrets.token_urlsafe(12)
        team.save(update_fields=["alias", "invitation"])


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0014_pseudonyms"),
    ]

    operations = [
        migrations.RunPython(complete, migrations.RunPython.noop, elidable=True),
    ]
