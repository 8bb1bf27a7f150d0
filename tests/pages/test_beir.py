"""A zip of BEIR becomes a collection by the page and by the API."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.collections.beir import write_beir_files
from leaderboard.models import ApiToken, Collection, Topic
from tests.builders import work

CORPUS = "".join(f"{json.dumps({'_id': f'd{n}', 'text': 'Baked.'})}\n" for n in range(1, 5))
QUERIES = '{"_id": "q1", "text": "sourdough"}\n{"_id": "q2", "text": "rye"}\n'
HEADER = "query-id\tcorpus-id\tscore\n"
MEMBERS = {
    "bakery/corpus.jsonl": CORPUS,
    "bakery/queries.jsonl": QUERIES,
    "bakery/qrels/test.tsv": f"{HEADER}q1\td1\t1\n",
    "bakery/qrels/dev.tsv": f"{HEADER}q2\td2\t1\n",
}


def pack(members: dict[str, str | bytes]) -> SimpleUploadedFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return SimpleUploadedFile("bakery.zip", packed.getvalue())


def upload(client: Client, **said):
    return client.post("/collections/new/", {"name": "Bakery", "slug": "bakery", **said})


def test_a_zip_becomes_a_collection_with_the_topics_of_its_split(as_ada):
    assert upload(as_ada, beir=pack(MEMBERS), split="dev").status_code == 302
    work()
    assert Collection.objects.get().judgment_sets.count() == 1
    assert as_ada.get("/collections/bakery/").status_code == 200


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"bakery.zip": pack(MEMBERS).read()}, "bakery.zip has no file qrels/test.tsv."),
        ({**MEMBERS, "b/corpus.jsonl": CORPUS}, "bakery.zip has several files corpus.jsonl."),
        ({**MEMBERS, "bakery/corpus.jsonl": b"\xff\xfe"}, "a file is not UTF-8."),
    ],
)
def test_a_zip_with_other_files_says_what_it_lacks(as_ada, members, said):
    answer = upload(as_ada, beir=pack(members))
    assert (answer.status_code, said in answer.content.decode()) == (422, True)
    assert not Collection.objects.exists()


def test_a_zip_with_a_password_is_rejected(as_ada):
    packed = bytearray(pack(MEMBERS).read())
    while (place := packed.find(b"PK\x01\x02")) >= 0:
        packed[place + 8] |= 1
        packed[place : place + 4] = b"done"
    packed = packed.replace(b"done", b"PK\x01\x02")
    answer = upload(as_ada, beir=SimpleUploadedFile("b.zip", bytes(packed)))
    assert (answer.status_code, "encrypted" in answer.content.decode()) == (422, True)


def test_a_nested_query_is_reported_by_the_import(as_ada):
    members = {**MEMBERS, "bakery/queries.jsonl": QUERIES + "[" * 500_000 + "\n"}
    assert upload(as_ada, beir=pack(members)).status_code == 302
    work()
    assert b"nested too deeply" in as_ada.get("/collections/bakery/").content


def test_a_byte_order_mark_keeps_no_query_of_another_split(tmp_path):
    (tmp_path / "b.zip").write_bytes(
        pack({**MEMBERS, "bakery/queries.jsonl": f"\ufeff{QUERIES}"}).read()
    )
    parts = write_beir_files(tmp_path / "b.zip", "dev", tmp_path)
    assert parts["topics"].read_text() == QUERIES.splitlines(keepends=True)[1]


def test_what_is_no_zip_is_rejected(as_ada):
    answer = upload(as_ada, beir=SimpleUploadedFile("b.zip", b"PK\x03\x04 no"))
    assert "b.zip is neither a folder nor a zip." in answer.content.decode()


def test_an_unpacked_part_has_the_limit_of_a_file(as_ada, settings):
    settings.COLLECTION_UPLOAD_LIMIT = 2000
    members = {**MEMBERS, "bakery/corpus.jsonl": CORPUS * 100}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    answer = upload(as_ada, beir=SimpleUploadedFile("b.zip", packed.getvalue()))
    assert "are too large; the limit is 2,000 bytes." in answer.content.decode()


def test_a_bomb_is_not_unpacked(as_ada):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**MEMBERS, "bakery/corpus.jsonl": " " * 70_000_000}.items():
            archive.writestr(name, content)
    answer = upload(as_ada, beir=SimpleUploadedFile("b.zip", packed.getvalue()))
    assert "b.zip unpacks to more than 100 times its size." in answer.content.decode()


def test_a_zip_beside_single_files_is_refused(as_ada):
    topics = SimpleUploadedFile("topics.tsv", b"1\trye\n")
    answer = upload(as_ada, beir=pack(MEMBERS), topics=topics)
    assert "Upload a zip of BEIR or single files, not both." in answer.content.decode()


def test_without_any_file_both_ways_are_named(as_ada):
    answer = upload(as_ada)
    assert "Upload topics, or a zip of BEIR." in answer.content.decode()


@pytest.fixture
def call(ada):
    _, token = ApiToken.objects.issue(ada, ["read", "organise"])
    headers = {"Authorization": f"Bearer {token}"}

    def post(**fields):
        said = {"slug": "bakery", "name": "Bakery", **fields}
        return Client(headers=headers).post("/api/v1/collections", said)

    return post


def test_the_api_takes_a_zip_too(call):
    assert call(beir=pack(MEMBERS)).status_code == 202
    work()
    assert [topic.title for topic in Topic.objects.all()] == ["sourdough"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"beir": pack(MEMBERS), "split": "train"},
            "bakery.zip has no split train; it has dev, test.",
        ),
        ({}, "topics: is required, unless beir is sent"),
    ],
)
def test_the_api_says_what_is_missing(call, fields, message):
    answer = call(**fields)
    assert answer.status_code in (400, 422) and message in answer.json()["message"]
