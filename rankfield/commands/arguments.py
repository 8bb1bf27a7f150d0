"""How every command that calls a site begins."""

from __future__ import annotations

import argparse

from rankfield.site import Site

CONFIGURATION = """
The site and your token are RANKFIELD_URL and RANKFIELD_TOKEN, or what rankfield login keeps.
Create a token on your account page.
"""


def site_parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Begin the parser of a command; the epilog keeps its lines."""
    parser = argparse.ArgumentParser(
        f"rankfield {command}",
        description=description,
        epilog=CONFIGURATION + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", default="", help="URL of the site")
    return parser


def site_of(options: argparse.Namespace) -> Site:
    return Site(options.url)
