"""mcp: serve a site to an agent, over standard input and output."""

from __future__ import annotations

import argparse
from pathlib import Path

from rankfield.agents import SiteTools, build_server
from rankfield.commands.arguments import site_of, site_parser
from rankfield.commands.outcomes import OK
from rankfield.errors import SiteError

EPILOG = """
It speaks the Model Context Protocol, for which its library is needed:
pip install 'rankfield[mcp]'. An agent gets tools that list benchmarks, show tracks, boards, runs
and scores by topic, and compare two runs. It sees what your token may see, and public boards
without one.

None of them changes anything. With --submit-from FOLDER there is one more, which submits run files
of that folder and of no other, if the token has the scope submit.

A client starts it by its configuration, such as
{"mcpServers": {"rankfield": {"command": "rankfield", "args": ["mcp"],
                              "env": {"RANKFIELD_URL": "https://rankfield.example.org"}}}}

Exit status: 0; 2 when the library is missing or the command is wrong.
"""


def parser() -> argparse.ArgumentParser:
    parser = site_parser("mcp", "Serve a site to an agent by the Model Context Protocol.", EPILOG)
    parser.add_argument(
        "--submit-from", metavar="FOLDER", type=Path, help="let the agent submit files of FOLDER"
    )
    return parser


def run(options: argparse.Namespace) -> int:
    folder = options.submit_from
    if folder is not None and not folder.is_dir():
        raise SiteError(f"{folder} is no folder.")
    build_server(SiteTools(site_of(options), folder)).run()
    return OK
