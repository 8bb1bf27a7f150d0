"""The command `rankfield`: evaluation without a server, calls to a site, and the server itself.

Django is imported only when a command of the server is called.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from evaluation import __main__ as evaluation_command
from evaluation.commands.arguments import add_json_option
from rankfield.commands.listing import OWN_COMMANDS, SERVER_COMMANDS, SITE_COMMANDS
from rankfield.commands.outcomes import NOT_REACHED, OK, REJECTED
from rankfield.errors import SiteError, UnreachableError, describe_error
from rankfield.version import VERSION

PROGRAM = "rankfield"
# Of the extra `server`.
SERVER_PACKAGES = ("django", "celery", "ninja", "allauth")


def usage() -> str:
    parts = {
        "Without a server": evaluation_command.COMMANDS | OWN_COMMANDS,
        "With a site": SITE_COMMANDS,
        "Server": SERVER_COMMANDS,
    }
    text = f"usage: {PROGRAM} COMMAND ...\n"
    for title, commands in parts.items():
        text += f"\n{title}:\n"
        text += "".join(f"  {name:<17}{what}\n" for name, what in commands.items())
    return f"{text}\nSee {PROGRAM} COMMAND --help for options."


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    command = arguments[0] if arguments else ""
    if evaluation_command.find_command(arguments):
        return evaluation_command.main(arguments, PROGRAM)
    if command in OWN_COMMANDS | SITE_COMMANDS:
        return run_own_command(command, arguments[1:])
    if command in ("-h", "--help"):
        print(usage())
        return OK
    if command in ("-V", "--version"):
        print(f"{PROGRAM} {VERSION}")
        return OK
    if not command or (command not in SERVER_COMMANDS and not has_server()):
        print(usage(), file=sys.stderr)
        return REJECTED
    return run_server_command(arguments)


def run_own_command(command: str, arguments: Sequence[str]) -> int:
    module = import_module(f"rankfield.commands.{command}")
    parser: argparse.ArgumentParser = module.parser()
    add_json_option(parser)
    options = parser.parse_intermixed_args(arguments)
    try:
        status: int = module.run(options)
        return status
    except (SiteError, OSError) as error:
        print(f"{parser.prog}: {describe_error(error)}", file=sys.stderr)
        return NOT_REACHED if isinstance(error, UnreachableError) else REJECTED


def has_server() -> bool:
    return all(find_spec(name) is not None for name in SERVER_PACKAGES)


def run_server_command(arguments: Sequence[str]) -> int:
    """Hand over to Django's command line, which ends the process if the command fails."""
    if not has_server():
        print(
            f"{PROGRAM} {arguments[0]} needs the server, which is not installed. "
            "Install it with: pip install 'rankfield[server]'",
            file=sys.stderr,
        )
        return REJECTED
    from django.core.management import execute_from_command_line  # type: ignore[import-untyped]

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    execute_from_command_line([PROGRAM, *arguments])
    return OK


def command() -> int:
    """Run the command line of this process; the entry point of the installed command."""
    arguments = sys.argv[1:]
    # Not those that use the network: a connection that closes early has to be an exception.
    if arguments and arguments[0] in evaluation_command.COMMANDS:
        evaluation_command.end_with_reader()
    return main(arguments)


if __name__ == "__main__":
    sys.exit(command())
