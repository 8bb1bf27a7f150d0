import gc
import os
from importlib import import_module

import django
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
# How long a turn keeps its connection, also one to SQLite, which reads the whole schema when it is
# opened. A worker must not keep that: its processes are forked, and SQLite allows no fork.
CONNECTION_KEPT_SECONDS = 60
# The number of an open file that ends when requests may be answered, from `serve`.
START_SIGNAL = "RANKFIELD_START_SIGNAL"


def limit_statement_time(connection: BaseDatabaseWrapper, **about: object) -> None:
    """Stop long statements: no reader waits longer, and they would delay other requests."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = %s", [LONGEST_STATEMENT])


def load_pages() -> None:
    """Load modules, URL patterns and templates now, so that the first request does not wait."""
    # Hardly anything of it becomes garbage, and a search takes a tenth of the time.
    gc.disable()
    django.setup()
    import_module(settings.ROOT_URLCONF)
    reverse("home")
    if settings.REDIS_URL:
        import_module("leaderboard.jobs.broker")
    for folder in settings.TEMPLATES[0]["DIRS"]:
        for template in folder.rglob("*.html"):
            get_template(str(template.relative_to(folder)))
    # These objects stay: checking them for garbage again and again would take most of the time of
    # the collector, and would make web processes write to memory that they share.
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def wait_for_start() -> None:
    """Wait until `serve` has migrated the database and collected the static files."""
    if START_SIGNAL in os.environ:
        os.read(int(os.environ[START_SIGNAL]), 1)


connection_created.connect(limit_statement_time)
load_pages()
wait_for_start()
# Of the code that is loaded, before an update can replace its files.
import_module("leaderboard.boards.kept_pages").release_digest()
# Python runs one thread at a time, so more turns would only make each of them longer.
application = RequestSlots(
    SafeEncodings(get_wsgi_application()), 4, kept_seconds=CONNECTION_KEPT_SECONDS
)
