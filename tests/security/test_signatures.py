"""T25: a release is what a maintainer signed, by the commands of SECURITY.md."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.test_house import ROOT

[COMMANDS] = re.findall(r"```sh\n(.+?)```", (ROOT / "SECURITY.md").read_text(), re.S)
LINE = 'rankfield namespaces="rankfield-release" '


def make_key(folder: Path, name: str) -> Path:
    """A key that is thrown away with the folder of a test."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
    subprocess.run(words, check=True)
    return folder / name


def sign(folder: Path, key: Path) -> subprocess.CompletedProcess[str]:
    signers = folder / "dist" / "release-signers"
    words = ["make", "-s", "-f", ROOT / "Makefile", "-C", folder, "sign"]
    named = [f"SIGN_KEY={key}", f"SIGNERS={signers}"]
    return subprocess.run([*words, *named], capture_output=True, text=True)


def is_accepted(folder: Path) -> bool:
    """Whether the commands of the page find nothing wrong."""
    words = ["bash", "-ec", COMMANDS]
    return subprocess.run(words, cwd=folder / "dist", capture_output=True).returncode == 0


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A wheel, its hash, and the public key of a maintainer, who has signed."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "rankfield.whl").write_bytes(b"wheel")
    line = f"{hashlib.sha256(b'wheel').hexdigest()}  rankfield.whl\n"
    (dist / "SHA256SUMS").write_text(line)
    key = make_key(tmp_path, "maintainer")
    (dist / "release-signers").write_text(LINE + key.with_suffix(".pub").read_text())
    assert sign(tmp_path, key).returncode == 0
    return tmp_path


def test_t25_what_a_maintainer_signed_is_accepted(release):
    assert is_accepted(release)


@pytest.mark.parametrize("name", ["rankfield.whl", "SHA256SUMS", "SHA256SUMS.sig"])
def test_t25_a_file_that_was_changed_is_not(release, name):
    path = release / "dist" / name
    path.write_bytes(path.read_bytes().replace(b"e", b"f", 1))
    assert not is_accepted(release)


def test_t25_somebody_elses_key_signs_nothing(release):
    (release / "dist" / "SHA256SUMS.sig").unlink()
    assert sign(release, make_key(release, "stranger")).returncode != 0
    assert not is_accepted(release)


def test_t25_a_signature_for_another_purpose_is_not_one_of_a_release(release):
    words = ["ssh-keygen", "-q", "-Y", "sign", "-f", release / "maintainer", "-n", "git"]
    (release / "dist" / "SHA256SUMS.sig").unlink()
    subprocess.run([*words, release / "dist" / "SHA256SUMS"], check=True)
    assert not is_accepted(release)
