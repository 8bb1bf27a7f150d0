"""The product's own settings, with runs that break what reads them and clocks that step."""

import os
from pathlib import Path

from leaderboard.settings import *  # noqa: F403
from leaderboard.settings import INSTALLED_APPS
from tests.faults.stepping import step_by

# Before any model is made: their defaults ask the clock.
if "HOST_CLOCK" in os.environ:
    step_by(Path(os.environ["HOST_CLOCK"]))

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.sabotage.Sabotage"]
