"""The command at home: a token that is kept, completion, one word for JSON, and what it loads."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import load_command_class

from leaderboard.models import ApiToken
from rankfield import configuration
from rankfield.__main__ import main
from rankfield.commands.completion import list_commands
from rankfield.commands.listing import SERVER_COMMANDS
from rankfield.progress import is_watched
from tests.client.conftest import URL
from tests.test_house import ROOT

OK, REJECTED = 0, 2
SMALL = [str(ROOT / "tests" / "data" / name) for name in ("small.qrels", "small.run")]
# Commands without --json, each with its reason.
WITHOUT_JSON = {
    "it writes a file in the format asked for": {
        *("convert", "answers convert", "answers ranking", "settle"),
    },
    "it writes a script for a shell": {"completion"},
    "what it prints is the protocol, which is JSON": {"mcp"},
}
SERVER_WITHOUT_JSON = {
    "it runs until it is stopped": {"demo", "serve", "web", "work"},
    "it changes the site and says so; a program does the same by the API": {
        *("create_teams", "import_folder", "load_collection", "load_nuggets", "load_reported"),
        *("load_runs", "rescore"),
    },
    "it keeps the site on its host, for the one who sits there": {
        *("backup", "erase", "forget_second_factor", "import_benchmark", "move", "read_only"),
        *("restore", "setup", "upgrade"),
    },
    "it writes a file, or one secret": {
        *("create_token", "export_activity", "export_benchmark", "password_link", "publish_board"),
    },
}


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A folder of settings without any, and an environment that names no site."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("RANKFIELD_URL", "RANKFIELD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "rankfield" / "config.toml"


class Keyring:
    """A keyring of a few lines."""

    errors = SimpleNamespace(KeyringError=RuntimeError)

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, url: str) -> str | None:
        return self.kept.get((service, url))

    def set_password(self, service: str, url: str, token: str) -> None:
        self.kept[service, url] = token

    def delete_password(self, service: str, url: str) -> None:
        del self.kept[service, url]


@pytest.fixture
def keyring(monkeypatch):
    found = Keyring()
    monkeypatch.setattr(configuration, "find_keyring", lambda: found)
    return found


@pytest.fixture
def token(network, ben, monkeypatch) -> str:
    """Ben's token, which he pipes into the command."""
    _, token = ApiToken.objects.issue(ben, ["read", "submit"])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    return token


def test_a_token_is_kept_in_the_keyring_and_used(home, keyring, token, track, capsys):
    assert main(["login", URL]) == OK
    assert capsys.readouterr().out == f"Signed in to {URL} as ben. The token is in the keyring.\n"
    assert configuration.read_configuration() == configuration.Configuration(URL, token)
    assert token not in home.read_text()


def test_login_prints_json_for_scripts(home, token, capsys):
    assert main(["login", URL, "--file", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["account"] == "ben"


def test_without_a_keyring_login_says_how_to_keep_a_token(home, token, monkeypatch, capsys):
    monkeypatch.setattr(configuration, "find_keyring", lambda: None)
    assert main(["login", URL]) == REJECTED
    assert "pip install 'rankfield[keyring]', or use --file" in capsys.readouterr().err


def test_a_file_of_settings_is_for_its_owner_alone(home, token):
    assert main(["login", URL, "--file"]) == OK
    assert configuration.read_configuration() == configuration.Configuration(URL, token)
    assert home.stat().st_mode & 0o777 == 0o600


def test_a_token_that_the_site_does_not_accept_is_not_kept(home, keyring, network, monkeypatch, db):
    monkeypatch.setattr("sys.stdin", io.StringIO("rf_wrong\n"))
    assert main(["login", URL]) == REJECTED
    assert (keyring.kept, home.exists()) == ({}, False)


def test_the_keyring_comes_before_a_token_of_the_file_that_login_finds(home, keyring, token):
    configuration.write_file(home, configuration.Configuration(URL, "rf_old"))
    main(["login", URL])
    assert configuration.read_configuration().token == token


@pytest.mark.parametrize("options", [[], ["--file"]])
def test_a_token_is_forgotten(home, keyring, token, options, capsys):
    main(["login", URL, *options])
    assert main(["login", "--forget"]) == OK
    assert configuration.read_configuration() == configuration.Configuration(URL, "")


def test_a_locked_keyring_is_none(home, keyring, monkeypatch):
    def refuse(*place):
        raise RuntimeError("locked")

    monkeypatch.setattr(keyring, "get_password", refuse)
    assert configuration.read_configuration(URL).token == ""


def test_windows_has_its_own_folder_of_settings(monkeypatch):
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("APPDATA", "/users/ben/roaming")
    monkeypatch.setattr(sys, "platform", "win32")
    expected = "/users/ben/roaming/rankfield/config.toml"
    assert configuration.configuration_file().as_posix() == expected


def complete(*words: str) -> list[str]:
    """What bash proposes for the last word."""
    script = subprocess.run(
        [sys.executable, "-m", "rankfield", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    typed = " ".join(f"'{word}'" for word in ("rankfield", *words))
    asked = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _rankfield; echo ${{COMPREPLY[@]}}"
    found = subprocess.run(["bash", "-c", script + asked], capture_output=True, text=True)
    return found.stdout.split()


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["sco"], ["score"]),
        (["answers", "ch"], ["check"]),
        (["pairs", "--ran"], ["--ranks"]),
        (["answers", "check", "--form"], ["--format"]),
        (["board", "--format", "j"], ["json"]),
    ],
)
def test_bash_completes_commands_options_and_choices(words, proposed):
    assert complete(*words) == proposed


def test_fish_is_told_every_command(capsys):
    main(["completion", "fish"])
    printed = capsys.readouterr().out
    assert "-a login -d 'keep the URL of a site and your token'" in printed
    assert "__fish_seen_subcommand_from answers; and __fish_seen_subcommand_from check" in printed


@pytest.mark.parametrize("command", ["score", "compare", "pairs", "bounds"])
def test_one_word_asks_every_command_for_json(command, capfd):
    assert main([command, *SMALL, SMALL[1], "--json"]) == OK
    assert json.loads(capfd.readouterr().out)


def test_every_command_has_json_or_a_reason():
    commands = [command for command in list_commands() if command.name not in SERVER_COMMANDS]
    without = [each.name for each in commands if "--json" not in each.options]
    assert sorted(without) == sorted(name for names in WITHOUT_JSON.values() for name in names)


def test_every_command_of_the_server_has_json_or_a_reason():
    folder = ROOT / "leaderboard" / "management" / "commands"
    without = []
    for name in (path.stem for path in folder.glob("[a-z]*.py")):
        parser = load_command_class("leaderboard", name).create_parser("rankfield", name)
        without += [] if "--json" in parser.format_help() else [name]
    assert sorted(without) == sorted(
        name for named in SERVER_WITHOUT_JSON.values() for name in named
    )


@pytest.fixture
def judged_runs(tmp_path, monkeypatch) -> list[str]:
    """Judgments of six topics and ten documents, and three runs that order these differently."""
    monkeypatch.chdir(tmp_path)
    pairs = [(topic, docno) for topic in range(6) for docno in range(10)]
    lines = [f"{topic} 0 d{docno} {(topic + docno) * docno % 3 // 2}" for topic, docno in pairs]
    Path("qrels").write_text("\n".join(lines))
    for name, factor in (("oak", 3), ("elm", 7), ("ash", 9)):
        lines = [f"{t} Q0 d{d * factor % 10} 1 {(t * d + factor) % 11} {name}" for t, d in pairs]
        Path(name).write_text("\n".join(lines))
    return ["qrels", "oak", "elm", "ash"]


@pytest.mark.parametrize("words", ["plan", "simulate --seeds 1", "pairs -m AP -m P@5", "reuse"])
def test_several_tables_are_one_document_of_json(words, judged_runs, capfd):
    command, *options = words.split()
    assert main([command, *judged_runs, *options, "--json"]) == OK
    assert json.loads(capfd.readouterr().out)


def test_a_table_in_json_has_numbers(capfd):
    main(["bounds", *SMALL, "--json"])
    [row] = json.loads(capfd.readouterr().out)["rows"]
    assert isinstance(row["low"], float) and row["measure"] == "P@10"


def test_ci_sees_no_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("CI", "true")
    assert not is_watched()
    monkeypatch.delenv("CI")
    assert is_watched()


@pytest.mark.parametrize(
    ("words", "spared"),
    [
        (["-c", "import rankfield"], ["numpy", "evaluation", "django"]),
        (["-m", "rankfield", "check", SMALL[1]], ["scipy", "django", "keyring", "ssl"]),
    ],
)
def test_a_start_loads_no_library_in_vain(words, spared):
    """So that `import rankfield` takes less than .15 s and `check` less than .6 s."""
    started = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, cwd=ROOT
    )
    loaded = {line.rpartition("|")[2].strip() for line in started.stderr.splitlines()}
    assert "rankfield" in loaded and not loaded & {*spared}
