"""Sessions in the database, looked up only under keys that a session can have."""

from __future__ import annotations

import re

from django.contrib.sessions.backends import db

# As Django makes them.
KEY = re.compile(r"[0-9a-z]{32}", re.ASCII)


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str) -> bool:
        """A cookie may hold any sign, also one that no database stores."""
        return bool(key) and KEY.fullmatch(key) is not None
