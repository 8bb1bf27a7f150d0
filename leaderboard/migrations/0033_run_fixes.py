from django.db import migrations, models
from django.db.models import Value


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0032_webhook_health'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='fixes',
            field=models.JSONField(blank=True, db_default=Value([], models.JSONField()), default=list),
        ),
    ]
