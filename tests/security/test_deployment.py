"""T25: settings that open a site, and packages that are not what they were."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent
CAREFUL = {
    "SECRET_KEY": "5f0c1e7a9b3d48e2a6c4f1b0d7e9832c5f0c1e7a9b3d48e2a6c4f1b0d7e9832d",
    "ALLOWED_HOSTS": "rankfield.example.org",
    "HTTPS": "1",
    "BEHIND_PROXY": "1",
}


def manage(home: Path, words: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**kept, "RANKFIELD_HOME": str(home), **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_t25_the_settings_of_a_public_site_leave_nothing_to_say(tmp_path):
    done = manage(tmp_path, ["check", "--deploy", "--fail-level", "WARNING"], **CAREFUL)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("command", "careless", "said"),
    [
        ("serve", {"DEBUG": "1"}, "E001"),
        ("web", {"ALLOWED_HOSTS": "*"}, "E002"),
        ("work", {"SECRET_KEY": "django-insecure-0123456789abcdefghijklmnop"}, "E003"),
        ("check", {"SECRET_KEY": "secret"}, "E003"),
    ],
)
def test_t25_a_site_that_anybody_could_enter_does_not_start(tmp_path, command, careless, said):
    done = manage(tmp_path, [command], **{**CAREFUL, **careless})
    assert done.returncode == 1 and said in done.stderr


def test_t25_a_site_on_this_machine_needs_no_settings(settings):
    settings.ALLOWED_HOSTS, settings.DEBUG = ["localhost", "127.0.0.1"], True
    assert not [each for each in run_checks() if each.id.startswith("rankfield")]


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-s3.txt",
        "requirements-server.txt",
        "requirements-dev.txt",
    ],
)
def test_t25_every_package_is_pinned_with_the_hashes_of_its_files(name):
    packages = (ROOT / name).read_text().replace("\\\n", "").splitlines()
    assert packages
    for line in packages:
        assert re.match(
            r"[\w.-]+(\[\w+\])?==\S+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+$", line
        )


def test_t25_what_is_not_its_hash_is_not_installed(tmp_path):
    wrong = tmp_path / "requirements.txt"
    wrong.write_text(f"sqlparse==0.6.1 --hash=sha256:{'0' * 64}\n")
    command = ["uv", "pip", "install", "--require-hashes", "--target", str(tmp_path / "there")]
    done = subprocess.run(
        [str(Path(sys.executable).parent / command[0]), *command[1:], "-r", str(wrong)],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and not (tmp_path / "there" / "sqlparse").exists()


def test_t25_nothing_is_installed_without_its_hash():
    for name in ("Makefile", "Dockerfile"):
        calls = re.findall(r"pip install (?:(?!&&).)*-r \S+", expanded((ROOT / name).read_text()))
        assert calls and all("--require-hashes" in call for call in calls)


def expanded(makefile: str) -> str:
    for name, value in re.findall(r"^(\w+) = (.*)$", makefile, re.MULTILINE):
        makefile = makefile.replace(f"$({name})", value)
    return makefile
