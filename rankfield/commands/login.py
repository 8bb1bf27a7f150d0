"""login: keep the URL of a site and your token, in the keyring of the system or in a file."""

from __future__ import annotations

import argparse
import getpass
import json
import sys

from evaluation.commands.arguments import add_report_option
from rankfield.commands.outcomes import OK
from rankfield.configuration import (
    Configuration,
    configuration_file,
    delete_token,
    plain_url,
    read_configuration,
    read_file,
    write_file,
    write_keyring,
)
from rankfield.errors import SiteError
from rankfield.site import Site

EPILOG = """
Create a token on your account page, with the scopes read and submit. It is asked for, or read from
standard input, so that no history of a shell has it. The site has to accept it.

The token goes into the keyring of the system, for which keyring is needed:
pip install 'rankfield[keyring]'. With --file it goes into the file of settings, which only you can
read. RANKFIELD_URL and RANKFIELD_TOKEN come before both.

Exit status: 0; 2 when the token is not accepted or cannot be kept; 3 when the site is not reached.
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "rankfield login",
        description="Keep the URL of a site and your token.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", metavar="URL", nargs="?", default="", help="URL of the site")
    parser.add_argument(
        "--file", action="store_true", help="keep the token in the file of settings"
    )
    parser.add_argument("--forget", action="store_true", help="remove the token that is kept")
    add_report_option(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    url = plain_url(options.url) or read_configuration().url
    if not url:
        raise SiteError("The site is not known. State its URL: rankfield login https://...")
    is_json = options.format == "json"
    if options.forget:
        is_removed = delete_token(url)
        said = "Removed the token." if is_removed else "No token was kept."
        print(json.dumps({"url": url, "removed": is_removed}) if is_json else said)
        return OK
    token = ask_token(url)
    name = Site(url, token).account()
    path = configuration_file()
    if options.file:
        write_file(path, Configuration(url, token))
    else:
        write_keyring(url, token)
        # A token in the file would come before that of the keyring.
        stated = read_file(path)
        if stated.token or plain_url(stated.url) != url:
            write_file(path, Configuration(url, ""))
    place = str(path) if options.file else "the keyring"
    said = f"Signed in to {url} as {name}. The token is in {place}."
    print(json.dumps({"url": url, "account": name, "token": place}) if is_json else said)
    return OK


def ask_token(url: str) -> str:
    """Return the token that is typed unseen or comes by standard input.  Raises SiteError."""
    if sys.stdin.isatty():
        print(f"Create a token at {url}/account/.", file=sys.stderr)
        token = getpass.getpass("Token: ")
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise SiteError(f"No token was given. Create one at {url}/account/.")
    return token.strip()
