"""The log of gunicorn, in the format of the site."""

from __future__ import annotations

import logging
import logging.config

from django.conf import settings
from gunicorn.config import Config
from gunicorn.glogging import Logger


class WebLog(Logger):
    """Gunicorn's own lines, which go where all others go.

    Gunicorn starts before Django does and would print its lines in a format of its own.
    """

    def setup(self, cfg: Config) -> None:
        self.loglevel = self.LOG_LEVELS[cfg.loglevel]
        logging.config.dictConfig(settings.LOGGING)
        self.error_log.setLevel(self.loglevel)
        self.error_log.propagate = True

    def reopen_files(self) -> None:
        """There are none."""
