"""The product's own settings, with the naive pages beside it; `RANKFIELD_HOME` is a folder that
the benchmark made."""

import os

# Where whitenoise looks at its start.
os.makedirs(os.path.join(os.environ["RANKFIELD_HOME"], "static"), exist_ok=True)

from leaderboard.settings import *  # noqa: E402, F403
from leaderboard.settings import INSTALLED_APPS, STORAGES, TEMPLATES, Path  # noqa: E402

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.naive"]
TEMPLATES[0]["DIRS"].append(Path(__file__).parent / "naive" / "templates")
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
# A line of the log for every view would stand between those of the table.
LOGGING_CONFIG = None
