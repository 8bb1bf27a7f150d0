from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0004_review'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='is_primary',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='track',
            name='required_facts',
            field=models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AlterField(
            model_name='track',
            name='selection',
            field=models.CharField(choices=[('all', 'Every scored run'), ('best', 'The best run of each team'), ('primary', 'The primary run of each team, or its first where it names none')], default='all', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('is_primary', True), ('state__in', ['valid', 'scored']), ('withdrawn_at', None)), fields=('team',), name='a_team_has_one_primary_run'),
        ),
    ]
