"""The product's own settings on a host whose clock a test puts forward."""

import os
from pathlib import Path

from leaderboard.settings import *  # noqa: F403
from tests.faults.stepping import step_by

# Before any model is made: their defaults ask the clock.
step_by(Path(os.environ["HOST_CLOCK"]))
