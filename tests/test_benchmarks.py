"""What the benchmarks promise to whoever runs them in a script."""

from __future__ import annotations

import pytest

from benchmarks import races
from benchmarks.races import Held


@pytest.mark.parametrize(("deadline", "status"), [(2, 0), (1, 1)], ids=["exact", "one-was-not"])
def test_races_fail_where_a_repetition_was_not_exact(monkeypatch, capsys, deadline, status):
    held = Held(times=2, quota=2, grant=2, deadline=deadline, minutes=0.1)
    monkeypatch.setattr(races, "held_by_site", lambda *_: [("SQLite", held)])
    assert races.main([]) == status
    assert f"| {deadline} of 2 | 0.1 min |" in capsys.readouterr().out
