"""The commands beside those of the evaluation, each with what it does."""

from __future__ import annotations

# Beside those of the evaluation.
OWN_COMMANDS = {
    "replay": "send topics to a search engine and write its rankings as a run",
    "completion": "print the completion of this command for a shell",
}
SITE_COMMANDS = {
    "login": "keep the URL of a site and your token",
    "submit": "submit runs to a track or a benchmark, wait, and print how they compare",
    "watch": "submit the runs that appear in a folder",
    "board": "print the board of a track",
    "publish": "print the scores of a run for a model card, a hub or a README",
    "mcp": "serve a site to an agent by the Model Context Protocol",
}
# Those of Django come on top; `rankfield help` lists all.
SERVER_COMMANDS = {
    "demo": "serve a sample collection with scored runs",
    "serve": "run a site on this machine",
    "doctor": "check an installation",
    "backup": "write all data to one folder while the site runs",
    "help": "list all commands of the server",
}
