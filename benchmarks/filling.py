"""Write boards of random scores into the database of a site that runs.

python -m benchmarks.filling RUNSxTOPICSxMEASURES ...
"""

from __future__ import annotations

import sys

import django


def main() -> None:
    django.setup()
    from benchmarks.scenes import Scene, make_track, store_scores
    from leaderboard.scoring import contest_tests

    for words in sys.argv[1:]:
        runs, topics, measures = map(int, words.split("x"))
        scene = Scene(f"{runs}x{topics}", runs, topics, measures)
        track = make_track(scene)
        store_scores(scene, track)
        # What a job does once a board is scored.
        contest_tests.compare_edition(str(track.edition_id), lambda done, of: None)()


if __name__ == "__main__":
    main()
