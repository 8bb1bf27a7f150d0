"""Settings of the tests: the product's own, in a folder that goes away."""

import os
import tempfile

# Goes away when the interpreter ends.
HOME = tempfile.TemporaryDirectory(prefix="rankfield-test-")
os.environ.setdefault("RANKFIELD_HOME", HOME.name)
# A process of xdist inherits the folder of the one that started it, and needs one of its own.
os.environ["RANKFIELD_HOME"] = os.path.join(
    os.environ["RANKFIELD_HOME"], os.environ.get("PYTEST_XDIST_WORKER", "")
)
# Where whitenoise looks at its start.
os.makedirs(os.path.join(os.environ["RANKFIELD_HOME"], "static"), exist_ok=True)

from leaderboard.settings import *  # noqa: E402, F403

STORAGES = {
    "default": {"BACKEND": "leaderboard.infrastructure.storage.DiskStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
EVERYONE_ORGANISES = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# A lease is renewed by another thread, for which SQLite in memory locks a table that a test writes:
# the thread or the test then fails where a job takes longer than this. Tests of leases set it.
RENEW_SECONDS = 600
