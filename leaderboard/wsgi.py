import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.template.loader import get_template
from django.urls import reverse

from leaderboard.infrastructure.encodings import SafeEncodings
from leaderboard.infrastructure.request_slots import RequestSlots

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
LONGEST_STATEMENT = "30s"


def limit_statement_time(connection: BaseDatabaseWrapper, **about: object) -> None:
    """Stop long statements: no reader waits longer, and they would delay other requests."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = %s", [LONGEST_STATEMENT])


connection_created.connect(limit_statement_time)

# Python runs one thread at a time, so more turns would only make each of them longer.
application = RequestSlots(SafeEncodings(get_wsgi_application()), 4)

# Load modules, URL patterns and templates now, so that the first request does not wait for them.
import_module(settings.ROOT_URLCONF)
reverse("home")
for folder in settings.TEMPLATES[0]["DIRS"]:
    for template in folder.rglob("*.html"):
        get_template(str(template.relative_to(folder)))

# These objects stay: checking them for garbage again and again would take most of the time of
# the collector, and would make web processes write to memory that they share.
gc.collect()
gc.freeze()
gc.set_threshold(20_000)
