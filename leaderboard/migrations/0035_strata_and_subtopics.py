"""Judgments of stratified samples and of subtopics, with probabilities of subtopics."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0034_maximum_t'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stratum',
            fields=[
                ('judgment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='stratum', serialize=False, to='leaderboard.judgment')),
                ('name', models.CharField(max_length=128)),
            ],
        ),
        migrations.AddField(
            model_name='judgmentset',
            name='intents_file',
            field=models.FileField(blank=True, db_default='', default='', max_length=200, upload_to=''),
        ),
        migrations.AddField(
            model_name='judgmentset',
            name='intents_filename',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='judgmentset',
            name='num_intents',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='judgmentset',
            name='num_strata',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='judgmentset',
            name='num_subtopics',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='Intent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subtopic', models.CharField(max_length=128)),
                ('probability', models.FloatField()),
                ('judgment_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='intents', to='leaderboard.judgmentset')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='intents', to='leaderboard.topic')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('judgment_set', 'topic', 'subtopic'), name='an_intent_is_given_once')],
            },
        ),
        migrations.CreateModel(
            name='SubtopicGrade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subtopic', models.CharField(max_length=128)),
                ('grade', models.SmallIntegerField()),
                ('judgment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subtopic_grades', to='leaderboard.judgment')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('judgment', 'subtopic'), name='a_subtopic_is_judged_once')],
            },
        ),
    ]
