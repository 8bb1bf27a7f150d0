"""Database sessions that look up only well-formed keys."""

from __future__ import annotations

import re

from django.contrib.sessions.backends import db

# The form of the keys that Django creates.
KEY = re.compile(r"[0-9a-z]{32}", re.ASCII)


class SessionStore(db.SessionStore):
    """Django's database sessions, with a stricter check of the key."""

    def _validate_session_key(self, key: str) -> bool:
        """Return whether a key is well formed; a cookie may contain what no database stores."""
        return bool(key) and KEY.fullmatch(key) is not None
