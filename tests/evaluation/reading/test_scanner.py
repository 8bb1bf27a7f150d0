"""The compiled scanner beside the ways of numpy: the same lines and values, to the last bit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from ctypes import CDLL
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from evaluation.reading.docnos import hash_all_words
from evaluation.reading.fast import blocks, scanner
from evaluation.reading.fast.layout import TOPIC, Lines, parted_lines_in
from evaluation.reading.fast.scanner import Scanner, open_library
from evaluation.reading.runs.fast_reader import rows_of
from evaluation.reading.runs.reader import read_run, read_run_plainly
from evaluation.reading.words import Text, Unclear
from scanner.rankfield_scanner import compile_library
from tests.evaluation.reading.test_fast import ANY, outcome
from tests.evaluation.reading.test_words import FORMATS
from tests.test_house import ROOT

LINE = b"301 Q0 D1 1 9.5 t\n"
PIECES = [
    *(b" ", b"\t", b"  ", b" \t ", b"\n", b"\r\n", b"\n\n", b"\0", b"\x0b", b"\x7f", b"\xff"),
    *(b"301", b"302", b"Q0", b"D1", b"clueweb09-en0040-83-38415", b"D" * 127, b"D" * 129),
    *("d\u00e9j\u00e0".encode(), b"#", b"1", b"007", b"+7", b"-0", b"9" * 18, b"9" * 19),
    *(b"9.5", b"-.5", b"5.", b".", b"1e-5", b"1E+999", b"nan", b"0x1p3", b"1_0", b"9" * 30),
    *(b"0.%b1" % (b"0" * 18), b"12.345678901234567", b"1844674407370955161.5", b"0" * 65),
    *(b"t", b"t-long-tag-of-a-system", LINE, LINE * 3),
]
GAPS = some.sampled_from([b" "] * 9 + [b"\t", b"  ", b""])


@some.composite
def columns(draw) -> bytes:
    """A line of six columns, of which some are as they should be."""
    kinds = (b"301 302", b"Q0", b"D1 clueweb09-en0040-83-38415", b"1 2 10", b"9.5 -1.25", b"t")
    right = [some.sampled_from(kind.split()) for kind in kinds]
    return b"".join(
        draw(some.one_of(each, each, each, some.sampled_from(PIECES))) + draw(GAPS)
        for each in right
    ).rstrip(b" ") + draw(some.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n", b""]))


HOSTILE = some.one_of(
    some.lists(columns(), max_size=6).map(b"".join),
    some.lists(some.sampled_from(PIECES), max_size=40).map(b"".join),
    some.binary(max_size=60),
)


def scan(library: CDLL, text: bytes) -> Lines:
    """Scan a text in memory that ends with its last byte."""
    padded = np.frombuffer(bytes(Text.ROOM) + text, np.uint8)
    return Scanner(library).scanned_lines_in(Text.within(padded, len(padded)), 6)


def values(lines: Lines, tag: bytes) -> list:
    """Everything that a reader takes from lines."""
    rows = rows_of(lines, np.diff(lines.topics, append=len(lines)), tag)
    docnos = [row.tobytes().rstrip(b"\0") for row in rows.docnos]
    places = [lines.starts(TOPIC), lines.ends[TOPIC], lines.feeds, lines.topics, rows.ranks]
    return [docnos, lines.topic_names(), rows.scores.tobytes(), *(each.tolist() for each in places)]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
@example(text=LINE[:-1])
@example(text=LINE + LINE[:7])
@example(text=b"\x0b")
@example(text=b"301 Q0 D1 1 2 \x0b\n")
@example(text=b"")
def test_hostile_bytes_are_read_the_same_both_ways(text, library):
    with patch.object(blocks, "library_in_use", lambda: library):
        compiled = outcome(read_run, text, ANY)
    with patch.object(blocks, "library_in_use", lambda: None):
        assert compiled == outcome(read_run, text, ANY) == outcome(read_run_plainly, text, ANY)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(text=HOSTILE.map(lambda text: text + b"\n"))
def test_what_the_scanner_proves_is_what_numpy_finds(text, library):
    try:
        lines = scan(library, text)
    except Unclear:
        return
    assert values(lines, lines.tag) == values(parted_lines_in(Text(text), 6), lines.tag)


@pytest.mark.parametrize("write", FORMATS.values(), ids=list(FORMATS))
def test_a_score_is_what_float_reads(write, library):
    random = Random(1)
    scores = [write(random) for _ in range(5_000)]
    text = "".join(f"301 Q0 D{n} {n} {score} t\n" for n, score in enumerate(scores))
    found = scan(library, text.encode()).rows
    assert found.scores.tobytes() == np.array(list(map(float, scores))).tobytes()


@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 31, 33, 127, 128])
def test_a_docno_of_any_length_has_its_bytes_and_its_hash(length, library):
    docnos = [b"x" * length, b"y", b"z" * (length // 2 + 1)]
    text = b"".join(b"301 Q0 %b 1 9.5 t\n" % docno for docno in docnos)
    rows = scan(library, text).rows
    assert [row.tobytes().rstrip(b"\0") for row in rows.docnos] == docnos
    assert rows.hashes.tolist() == hash_all_words(rows.docnos).tolist()


@pytest.mark.parametrize(
    "text",
    [LINE[:-1], LINE[:-2], b"\n", LINE + b"\n", LINE.replace(b"t", b"u") + LINE, LINE + b"301 Q0",
     b" " + LINE, LINE.replace(b"\n", b"\r\n"), LINE.replace(b"D1", b"D" * 129),
     LINE.replace(b"1 9", b"9999999999999999999 9"), LINE.replace(b"9.5", b"1e999")],
)  # fmt: skip
def test_what_is_not_proved_is_left_to_the_other_ways(text, library):
    with pytest.raises(Unclear):
        scan(library, text)


def test_a_library_with_another_interface_is_not_used(library):
    with patch.object(scanner, "INTERFACE", 0):
        assert open_library(library._name) is None


@pytest.fixture(scope="module")
def installed(library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel of the scanner installs."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT / "scanner", check=True)
    [wheel] = folder.glob("rankfield_scanner-*-py3-none-*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.mark.parametrize(("switch", "is_used"), [("on", True), ("off", False)])
def test_the_wheel_is_found_unless_it_is_switched_off(switch, is_used, installed):
    told = "from evaluation.reading.fast.scanner import library_in_use as f; print(f() is not None)"
    variables = {**os.environ, "PYTHONPATH": str(installed), "RANKFIELD_SCANNER": switch}
    words = [sys.executable, "-c", told]
    done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(is_used)


def test_the_image_of_the_site_has_the_scanner(tmp_path):
    """The step of the Dockerfile that compiles it, run by hand."""
    [step] = re.findall(
        r"^RUN (python -c .*rankfield_scanner.*)$", (ROOT / "Dockerfile").read_text(), re.M
    )
    shutil.copytree(ROOT / "scanner" / "rankfield_scanner", tmp_path / "rankfield_scanner")
    subprocess.run(shlex.split(step), cwd=tmp_path, check=True)
    assert open_library(tmp_path / "rankfield_scanner" / "scanner.so") is not None


@pytest.mark.night
@pytest.mark.data
def test_no_byte_outside_of_its_arrays_is_touched(library, tmp_path, data):
    """A compiled check of every access, on hostile files whole, cut and damaged."""
    checked = tmp_path / "scanner.so"
    compile_library(checked, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, check=True)
    variables = {
        **os.environ,
        "LD_PRELOAD": found.stdout.decode().strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    words = [sys.executable, "-m", "tests.evaluation.reading.scanned", str(checked), str(data)]
    done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scanned, proved = map(int, done.stdout.split())
    assert scanned > 10_000 and proved > 100
