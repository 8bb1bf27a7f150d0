"""watch: submit the runs that appear in a folder."""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path

from evaluation.commands.arguments import add_report_option, parse_positive
from rankfield.commands.arguments import site_of, site_parser
from rankfield.commands.outcomes import NOT_REACHED, OK, REJECTED
from rankfield.errors import SiteError
from rankfield.watching import WatchedFolder

EPILOG = """
A file is submitted once it stays unchanged from one look to the next, and again if it changes.
Hidden files, and files that end in .tmp or .part, are ignored. What the site cannot take yet, since
it is away or a quota is used up, is tried later. Watching ends with Ctrl-C.

With --once it ends when all files that are there are scored or rejected, as a script wants it.

Exit status: 0; with --once 2 when a run is rejected, and 3 when the site cannot take the files that
are left; 2 when the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = site_parser("watch", "Submit the runs that appear in a folder.", EPILOG)
    parser.add_argument("track", metavar="TRACK")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--description", metavar="TEXT", default="")
    parser.add_argument("--interval", metavar="S", type=parse_positive, default=2.0)
    parser.add_argument("--once", action="store_true", help="end when all files are done")
    add_report_option(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        raise SiteError(f"{options.folder} is no folder.")
    site = site_of(options)
    # A wrong name or token is said at once.
    site.track(options.track)
    folder = WatchedFolder(site, options.track, options.folder, options.description)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            for line in folder.look():
                print(as_json(line) if options.format == "json" else line, flush=True)
            if options.once and folder.is_settled:
                return REJECTED if folder.rejected else OK
            if options.once and folder.is_stuck:
                return NOT_REACHED
            time.sleep(options.interval)
    return OK


def as_json(line: str) -> str:
    """Return what is said of a file as an object.

    >>> as_json("a.run: scored, AP 0.2500")
    '{"file": "a.run", "said": "scored, AP 0.2500"}'
    """
    name, _, said = line.partition(": ")
    return json.dumps({"file": name, "said": said})
