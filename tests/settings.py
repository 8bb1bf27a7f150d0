"""Settings of the tests: the product's own, in a folder that goes away."""

import os
import tempfile

os.environ.setdefault("RANKFIELD_HOME", tempfile.mkdtemp(prefix="rankfield-test-"))

from leaderboard.settings import *

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
