"""Print what each person of a home can read, as JSON; run by the code that the home belongs to.

It knows addresses alone, no class of any version, and follows those that have moved.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re

import django
from django.test import Client

# The first that a version knows.
BENCHMARKS = ("benchmarks", "tasks")
# Tests are made anew where their method has changed, by a job that has not run here.
TESTS = {"difference", "low", "high", "p", "p_adjusted", "effect_size", "wins", "losses", "ties"}
TESTS |= {"rank_low", "rank_high", "changed"}
# What columns of a file were once called.
RENAMED = {"created_at": "received_at"}
# Who may open what, whatever it says.
PAGES = ("", "about/", "data/", "topics/", "submit/", "team/", "desk/", "manage/", "pools/")
PAGES += ("judging/", "snapshots/", "judgments/", "history/", "compare/")
# What the page says of a team's quota and of its deadline.
LEFT = re.compile(r"\d+ of \d+ (?:runs )?left (?:today|in total)|until \d+ \w+ \d+, \d\d:\d\d")
TAGS = re.compile(r"<[^>]*>|\s+")


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "leaderboard.settings"
    django.setup()
    from django.contrib.auth import get_user_model

    people = [None, *get_user_model().objects.order_by("pk")]
    seen: dict[str, str] = {}
    for person in people:
        client = Client(SERVER_NAME="127.0.0.1")
        if person:
            client.force_login(person)
        name = person.get_username() if person else "a stranger"
        seen |= {f"{address} as {name}": what for address, what in read(client)}
    print(json.dumps(seen))


def read(client: Client) -> list[tuple[str, str]]:
    found = []
    for track in list_all(client, "/api/v1/tracks"):
        home = f"/tracks/{track['slug']}/"
        found += read_board(client, home)
        found += read_pages(client, home)
        for run in list_all(client, f"/api/v1/tracks/{track['slug']}/runs"):
            found += read_run(client, run)
        qrels = f"{home}judgments/{track.get('judgments')}/qrels.txt"
        found.append((qrels, digest(client.get(qrels, follow=True))))
    word = next(word for word in BENCHMARKS if client.get(f"/api/v1/{word}").status_code == 200)
    for benchmark in list_all(client, f"/api/v1/{word}"):
        home = f"/{word}/{benchmark['slug']}/"
        boards = read_board(client, home) + read_pages(client, home)
        found += [(address.replace(f"/{word}/", "/benchmarks/"), what) for address, what in boards]
    return found


def list_all(client: Client, address: str) -> list[dict]:
    return client.get(address, {"limit": 100}).json()["items"]


def read_board(client: Client, home: str) -> list[tuple[str, str]]:
    """Every row of every board, without what jobs make anew."""
    # The board of a benchmark stood at its home once.
    has_moved = client.get(f"{home}board/", follow=True).status_code == 200
    board = f"{home}board/" if has_moved else home
    answer = client.get(board, {"column": "all", "format": "csv"}, follow=True)
    is_file = answer["Content-Type"].startswith("text/csv")
    rows = csv.DictReader(text_of(answer).splitlines()) if is_file else []
    kept = [{RENAMED.get(key, key): row[key] for key in row if is_kept(key)} for row in rows]
    return [(f"{home} as a file", f"{answer.status_code} {json.dumps(kept)}")]


def is_kept(column: str) -> bool:
    """Whether a column is compared; facts are compared run by run, and were no columns once."""
    return column not in TESTS and not column.startswith("fact.")


def read_pages(client: Client, home: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        answer = client.get(home + page, follow=True)
        text = " ".join(TAGS.sub(" ", text_of(answer)).split()) if page == "submit/" else ""
        way_in = " after a redirect to sign in" if is_at_sign_in(answer) else ""
        found.append((home + page, f"{answer.status_code}{way_in} {LEFT.findall(text)}"))
    return found


def is_at_sign_in(answer) -> bool:
    return any("/account/login/" in address for address, _ in getattr(answer, "redirect_chain", []))


def read_run(client: Client, run: dict) -> list[tuple[str, str]]:
    home = f"/runs/{run['id']}/"
    topics = client.get(f"{home}topics.csv")
    file = client.get(f"{home}file/")
    kept = {key: run.get(key) for key in ("state", "tag", "team", "scores", "topics", "facts")}
    return [
        (f"run {run['id']}", json.dumps(kept)),
        (f"{home}topics.csv", digest(topics)),
        (f"{home}file/", digest(file)),
    ]


def text_of(answer) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode()


def digest(answer) -> str:
    """The hash of a file; a page of errors has none, since it may say things better."""
    if answer.status_code != 200:
        return str(answer.status_code)
    return hashlib.sha256(text_of(answer).encode()).hexdigest()


if __name__ == "__main__":
    main()
