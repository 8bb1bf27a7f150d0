"""What is unpacked, and what is refused by name."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from dataclasses import replace

import pytest
from isal import isal_zlib

from evaluation.problems import Refused
from evaluation.reading import containers
from evaluation.reading.containers import MIB, RUN_LIMITS, unpacked

RUN = b"7 Q0 d1 1 9.5 bm25\n7 Q0 d2 2 8.5 bm25\n"
SMALL = replace(RUN_LIMITS, upload=100_000, unpacked=1_000_000, ratio=10, ratio_above=50_000)


def text_of(packed: bytes, limits=RUN_LIMITS) -> bytes:
    return unpacked(io.BytesIO(packed), limits).read()


def refusal(packed: bytes, limits=RUN_LIMITS) -> str:
    with pytest.raises(Refused) as refused:
        text_of(packed, limits)
    (code,) = refused.value.problems.totals()
    return code


def zipped(*names: str, text: bytes = RUN, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), text, compress_type=method)
    return bytearray(file.getvalue())


def test_plain_text_is_the_file_itself():
    assert text_of(RUN) == RUN


def test_the_members_of_a_gzip_file_are_one_text():
    assert text_of(gzip.compress(RUN) + gzip.compress(b"") + gzip.compress(RUN)) == RUN + RUN


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_with_one_file_is_read(method):
    assert text_of(zipped("my run/run.txt", method=method)) == RUN


def test_a_zip_written_to_a_pipe_is_read():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def tell(self):
            raise io.UnsupportedOperation

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("r", "w") as out:
        out.write(RUN)
    assert text_of(pipe.getvalue()) == RUN


def test_a_large_text_comes_out_whole():
    text = b"".join(b"%d\n" % number for number in range(400_000))
    assert text_of(gzip.compress(text, 1)) == text
    assert text_of(zipped("run.txt", text=text)) == text


@pytest.mark.parametrize(
    "packed",
    [
        bz2.compress(RUN),
        lzma.compress(RUN),
        b"\x28\xb5\x2f\xfd" + RUN,
        gzip.compress(gzip.compress(RUN)),
        gzip.compress(bytes(zipped("run.txt"))),
        gzip.compress(RUN)[:-3],
        gzip.compress(RUN)[:-12],
        gzip.compress(RUN)[:10],
        gzip.compress(RUN) + b"\0",
        gzip.compress(RUN) + RUN,
        b"PK\x03\x04",
        bytes(zipped("run.txt"))[:-1],
        bytes(zipped("run.txt")) + b"\n",
        b"PK\x07\x08" + RUN,
        zipped("run.txt", method=zipfile.ZIP_BZIP2),
    ],
    # Packed bytes hold the time at which they were packed.
    ids=lambda packed: str(len(packed)),
)
def test_a_damaged_or_foreign_container_is_refused(packed):
    assert refusal(packed) == "E_CONTAINER"


def test_a_tar_archive_is_refused_also_inside_gzip():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("run.txt"))
    assert refusal(file.getvalue()) == "E_CONTAINER"
    assert refusal(gzip.compress(file.getvalue())) == "E_CONTAINER"


@pytest.mark.parametrize("head", [b"%PDF-1.7", b"\x7fELF\x02", b"\x80\x04\x95", b"\x89PNG\r\n\x1a"])
def test_a_file_that_is_no_text_is_refused_by_name(head):
    assert refusal(head + RUN) == "E_FORMAT"
    assert refusal(gzip.compress(head + RUN)) == "E_FORMAT"


@pytest.mark.parametrize("names", [(), ("a", "b"), ("run/",), ("._a", "._b")])
def test_an_archive_must_hold_exactly_one_file(names):
    assert refusal(zipped(*names)) == "E_MEMBERS"


@pytest.mark.parametrize(
    "others",
    [
        *[("__MACOSX/._run.txt",), ("my/", "my/.DS_Store", "__MACOSX/my/._run.txt"), ("my/",)],
        *[("README",), ("README.txt", "LICENSE"), ("my/notes.txt", "my/paper.pdf"), ("a.yml",)],
    ],
)
def test_what_systems_and_people_put_beside_a_file_is_ignored(others):
    packed = zipped("run.txt", *others)
    assert text_of(packed) == RUN
    directory = packed.index(b"PK\x01\x02")
    assert refusal(packed[:directory] + b"x" * 40 + packed[directory:]) == "E_CONTAINER"


def test_an_archive_of_two_files_names_them():
    with pytest.raises(Refused, match=r'the archive has 2 files: "a\.run, b\.run"'):
        text_of(zipped("a.run", "b.run", "README.md"))


@pytest.mark.parametrize(
    "name", ["../run", "/run", "a\\run", "C:run", "a/../b", "n\x07", "n" * 256]
)
def test_an_unsafe_member_name_is_refused(name):
    assert refusal(zipped(name)) == "E_PATH"


@pytest.mark.parametrize("kind", [0o120777, 0o010644, 0o060644])
def test_a_link_or_special_file_is_refused(kind):
    info = zipfile.ZipInfo("run.txt")
    info.external_attr = kind << 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(info, b"/etc/passwd")
    assert refusal(file.getvalue()) == "E_LINK"


def test_an_encrypted_member_is_refused():
    packed = zipped("run.txt")
    packed[packed.rindex(b"PK\x01\x02") + 8] |= 1
    assert refusal(packed) == "E_ENCRYPTED"


def test_a_member_that_lies_about_its_size_or_checksum_is_refused():
    packed = zipped("run.txt")
    directory = packed.rindex(b"PK\x01\x02")
    for field in (16, 20, 24):  # checksum, packed size, unpacked size
        lying = packed.copy()
        lying[directory + field] ^= 1
        assert refusal(lying) == "E_CONTAINER"


def test_bytes_hidden_in_front_of_or_behind_the_member_are_refused():
    packed = bytes(zipped("run.txt"))
    assert refusal(b"PK\x03\x04" + packed) == "E_CONTAINER"
    directory = packed.rindex(b"PK\x01\x02")
    assert refusal(packed[:directory] + b"x" * 40 + packed[directory:]) == "E_CONTAINER"


def test_a_directory_too_long_for_one_member_is_refused_before_it_is_read():
    packed = zipped("run.txt")
    packed[-10:-6] = (1_000_000).to_bytes(4, "little")
    assert refusal(packed) == "E_MEMBERS"


def test_limits_are_enforced_while_reading():
    noise = bytes(range(256)) * 100
    assert text_of(gzip.compress(noise), SMALL) == noise
    assert refusal(gzip.compress(b"7 Q0 d1 1 9.5 bm25\n" * 20_000), SMALL) == "E_BOMB"
    assert refusal(zipped("run.txt", text=RUN * 20_000), SMALL) == "E_BOMB"
    assert refusal(b"x" * 100_001, SMALL) == "E_SIZE"


def test_a_member_that_declares_too_much_is_refused_before_it_is_unpacked():
    packed = zipped("run.txt")
    directory = packed.rindex(b"PK\x01\x02")
    packed[directory + 24 : directory + 28] = (2_000_000).to_bytes(4, "little")
    assert refusal(packed, SMALL) == "E_BOMB"


def test_a_small_bomb_is_told_before_a_byte_of_it_is_read():
    with pytest.raises(Refused, match="E_BOMB"):
        unpacked(io.BytesIO(gzip.compress(b"\n" * 100_000)), SMALL)


def test_a_bomb_gives_out_no_more_than_the_limit(monkeypatch):
    compress = zlib.compressobj(9, wbits=31)
    bomb = b"".join(compress.compress(bytes(1_000_000)) for _ in range(20)) + compress.flush()
    given = 0
    monkeypatch.setattr(containers, "UNPACKED_TWICE", 0)
    with pytest.raises(Refused):
        file = unpacked(io.BytesIO(bomb), SMALL)
        while piece := file.read(10_000):
            given += len(piece)
    assert given <= SMALL.unpacked


WITHOUT_SERVER = pytest.mark.parametrize("library", [zlib, isal_zlib], ids=["zlib", "isal"])


def outcome(packed: bytes) -> bytes | list[str]:
    try:
        return text_of(packed)
    except Refused as refused:
        return list(refused.problems.totals())


def test_both_libraries_refuse_the_same_damaged_files(monkeypatch):
    """Bit by bit: what the server refuses is what the command line refuses without the extra."""
    packed = gzip.compress(b"".join(b"%d Q0 d%d 1 9.5 bm25\n" % (n, n * n) for n in range(60)))
    damaged = [packed[:length] for length in range(2, len(packed))]
    for place in range(8 * len(packed)):
        damaged.append(bytearray(packed))
        damaged[-1][place // 8] ^= 1 << place % 8
    by_isal = [outcome(bytes(file)) for file in damaged]
    monkeypatch.setattr(containers, "inflating", zlib)
    assert by_isal == [outcome(bytes(file)) for file in damaged]
    assert sum(found == ["E_CONTAINER"] for found in by_isal) > 0.95 * len(damaged)


@WITHOUT_SERVER
def test_a_large_file_that_is_damaged_is_refused_where_the_damage_is(monkeypatch, library):
    monkeypatch.setattr(containers, "inflating", library)
    packed = bytearray(gzip.compress(os.urandom(6 * MIB).hex().encode(), 1))
    packed[-20] ^= 1
    read = unpacked(io.BytesIO(packed))
    assert len(read.read(4 * MIB)) == 4 * MIB
    with pytest.raises(Refused, match="damaged"):
        read.read()


def test_a_large_file_is_read_again_from_its_start():
    text = os.urandom(6 * MIB).hex().encode()
    read = unpacked(io.BytesIO(gzip.compress(text, 1)))
    first = read.read(3 * MIB)
    read.seek(0)
    assert read.read() == text and text.startswith(first)
