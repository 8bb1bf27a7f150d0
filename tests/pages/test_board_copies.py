"""A copy of a released board has what a stranger receives, and needs no server."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.archives.board_copies import LinkFinder, copy_board, name_file
from leaderboard.archives.zip_files import ZipEntry
from leaderboard.jobs.cleanup import delete_old_rows
from leaderboard.models import Collection, Job, Overview, PagesCopy, Run, Team, Track
from tests.builders import OTHER_RUN, make_collection, make_run, make_track, work

pytestmark = pytest.mark.long
BY_ADDRESS = {
    "index.html": "/benchmarks/bread/board/",
    "topics.html": "/benchmarks/bread/topics/",
    "topic-1.html": "/benchmarks/bread/topic/?number=1",
    "significance.html": "/benchmarks/bread/significance/",
    "overview.html": "/benchmarks/bread/",
}


class Words(HTMLParser):
    """The words between the tags of a page's main part, without those of forms."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag, attrs):
        filters = tag == "details" and ("class", "filters") in attrs
        if tag in ("main", "form", "script") or filters or (tag == "details" and self.is_left_out):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    @property
    def is_left_out(self) -> bool:
        return self.inside[-1:] != ["main"] and "main" in self.inside

    def handle_data(self, data):
        if self.inside == ["main"]:
            self.found += data.split()


def words_of(page: str) -> list[str]:
    reader = Words()
    reader.feed(page)
    return reader.found


def make_scene(ada, ben, cat) -> tuple[Track, dict[str, str]]:
    """A track with two runs and its copy, which has many pages; and a track without a run."""
    collection = make_collection(ada)
    track = make_track(collection)
    make_run(track, ben)
    make_run(track, ada, OTHER_RUN)
    return make_track(collection, slug="oats"), copy_of(track)


@pytest.fixture
def released(scene) -> Track:
    return Track.objects.get(slug="bread")


@pytest.fixture
def empty(scene) -> Track:
    return Track.objects.get(slug="oats")


@pytest.fixture
def files(scene) -> dict[str, str]:
    """The files of a copy, by name."""
    return scene[1]


def copy_of(track: Track, site: str = "") -> dict[str, str]:
    return {
        member.name: b"".join(member.pieces).decode("utf-8", "replace")
        for member in copy_board(track, site)
    }


def read_whole(client, address: str) -> str:
    return b"".join(client.get(address)).decode()


def test_pages_say_what_a_stranger_receives(released, client):
    files = copy_of(released, "http://testserver")
    for name, address in BY_ADDRESS.items():
        said = words_of(client.get(address).content.decode())
        assert len(said) > 10 and words_of(files[name]) == said


def test_what_the_organiser_sees_beyond_that_is_not_in_the_copy(files, as_ada):
    assert "/bread/desk/" in as_ada.get("/benchmarks/bread/board/").content.decode()
    private = ("/desk/", "/manage/", "csrf")
    assert not [name for name, text in files.items() if any(word in text for word in private)]


def test_every_link_leads_to_a_file_of_the_copy(files):
    broken = []
    for name in files:
        finder = LinkFinder()
        finder.feed(files[name] if name.endswith(".html") else "")
        for link in finder.links:
            path = unquote(urlsplit(link).path)
            if path and normpath(join(dirname(name), path)) not in files:
                broken.append((name, link))
    assert broken == [] and {"index.html", "board.csv", "board.json"} <= set(files)


def test_links_to_other_pages_lead_to_the_site(empty):
    page = copy_of(empty, "https://board.example")["index.html"]
    assert 'href="https://board.example/measures/"' in page


def test_every_run_is_in_the_copy_with_its_pages(released, files):
    for run in released.runs.all():
        assert {f"runs/{run.pk}/index.html", f"runs/{run.pk}/topics.html"} <= set(files)


def test_no_page_has_a_script_or_a_form(files):
    pages = [text for name, text in files.items() if name.endswith(".html")]
    assert pages and not re.search("<script|<form|hx-get", "".join(pages))


def test_a_topic_with_an_odd_number_has_a_safe_name(released):
    names = {
        name_file(released, f"/benchmarks/bread/topic/?number={n}") for n in ("..%2FA", "../a", "a")
    }
    assert len(names) == 3 and all(re.fullmatch(r"[a-z0-9-]+\.html", name) for name in names)


def test_different_addresses_have_different_names(released):
    queries = ["", "?all=1", "?page=1", "?measure=P@5", "?measure=P@5&page=1", "?number=7-2"]
    queries += ["?number=7&page=2", "?number=7--page-2", "?number=7"]
    names = {name_file(released, f"/benchmarks/bread/topic/{query}") for query in queries}
    assert len(names) == len(queries)


def test_a_link_to_a_style_sheet_that_is_not_there_leads_to_the_site(empty, ada):
    Track.objects.update(description="[style](/static/old.css) [folder](/static/)")
    page = copy_of(empty, "https://board.example")["overview.html"]
    assert 'href="https://board.example/static/old.css"' in page


def test_a_track_whose_scores_are_hidden_has_no_copy(released, as_ada, tmp_path):
    Track.objects.update(disclosure=Track.Disclosure.BLIND)
    with pytest.raises(CommandError, match="Release a public track first"):
        call_command("publish_board", "bread", tmp_path / "copy")
    as_ada.post("/benchmarks/bread/manage/copy/")
    assert not PagesCopy.objects.exists()
    assertNotContains(as_ada.get("/benchmarks/bread/manage/copy/"), "Copy the pages")


def test_an_internal_track_has_no_copy(released, as_ada):
    Track.objects.update(visibility=Track.Visibility.MEMBERS)
    as_ada.post("/benchmarks/bread/manage/copy/")
    assert not PagesCopy.objects.exists()


def test_a_copy_of_a_pseudonymous_track_has_no_name_and_no_hash(released, ben, as_ada):
    Track.objects.update(pseudonyms=True)
    Team.objects.filter(of_organisers=False).update(name="Secret crumbs")
    secrets = {"tag": "secret-tag", "description": "secret words", "facts": {"note": "secret"}}
    Run.objects.filter(team__of_organisers=False).update(**secrets)
    files = copy_of(Track.objects.get(slug="bread"))
    told = {name for name, text in files.items() if re.search("secret|Secret", text)}
    digest = Run.objects.get(tag="secret-tag").sha256
    assert (told, any(digest[:12] in text for text in files.values())) == (set(), False)


def test_a_copy_is_made_by_a_job_that_says_how_far_it_is(released, as_ada):
    as_ada.post("/benchmarks/bread/manage/copy/")
    Job.objects.filter(kind="copy_pages").update(state="running", progress=3, progress_of=40)
    page = as_ada.get("/benchmarks/bread/manage/copy/")
    assertContains(page, "3 of 40 found so far")
    assertContains(page, 'hx-trigger="every 2s"')
    assert as_ada.get("/benchmarks/bread/manage/copy.zip").status_code == 404


def test_a_copy_that_was_made_again_replaces_the_first(empty, as_ada):
    first = download_copy(as_ada, "oats")
    Track.objects.update(name="Rye track")
    assert b"Oats track" in first.read("index.html")
    assert b"Rye track" in download_copy(as_ada, "oats").read("index.html")


def test_a_copy_is_kept_for_a_day(empty, as_ada):
    download_copy(as_ada, "oats")
    PagesCopy.objects.update(copied_at=timezone.now() - timedelta(days=2))
    delete_old_rows()
    assert as_ada.get("/benchmarks/oats/manage/copy.zip").status_code == 404


def download_copy(as_ada: Client, slug: str = "bread") -> zipfile.ZipFile:
    as_ada.post(f"/benchmarks/{slug}/manage/copy/")
    work()
    response = as_ada.get(f"/benchmarks/{slug}/manage/copy.zip")
    return zipfile.ZipFile(io.BytesIO(response.getvalue()))


def test_the_command_writes_what_organisers_download(released, as_ada, tmp_path):
    call_command("publish_board", "bread", tmp_path / "copy", site="http://testserver")
    with download_copy(as_ada) as file:
        names = set(file.namelist()) - {"SHA256SUMS"}
        assert file.read("index.html") == (tmp_path / "copy/index.html").read_bytes()
    found = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*.*")}
    assert names == found


def test_a_folder_with_files_is_left_alone(released, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="is not empty"):
        call_command("publish_board", "bread", tmp_path)


@pytest.mark.parametrize("was_there", [True, False])
def test_a_copy_that_breaks_leaves_nothing(released, tmp_path, monkeypatch, was_there):
    def broken(*about: object) -> Iterator[ZipEntry]:
        yield ZipEntry("data/topics.trec", [b"<top>"])
        raise OSError("No space left on device")

    monkeypatch.setattr("leaderboard.management.commands.publish_board.copy_board", broken)
    folder = tmp_path / "copy"
    if was_there:
        folder.mkdir()
    with pytest.raises(CommandError, match="No space left"):
        call_command("publish_board", "bread", folder)
    assert list(tmp_path.glob("copy/**/*")) == []


def test_topics_and_shared_judgments_are_in_the_copy(empty, client):
    empty.shares_judgments = True
    empty.save()
    files = copy_of(empty)
    assert files["data/topics.jsonl"] == read_whole(client, "/collections/bread/topics.jsonl")
    shared = read_whole(client, "/benchmarks/oats/judgments/v1/qrels.txt")
    assert files["data/qrels-v1.txt"] == shared
    assert 'href="data/topics.trec"' in files["overview.html"]


def test_judgments_that_are_not_shared_are_not_in_the_copy(empty):
    empty.shares_judgments = False
    empty.save()
    files = copy_of(empty)
    assert not [name for name in files if "qrels" in name]
    assert "recordSet" not in json.loads(files["croissant.json"])


def test_a_copy_says_how_to_cite_it(empty, ada):
    Overview.objects.update_or_create(
        track=empty, defaults={"authors": "Inês Moura, Porto", "citation": "Moura, Bread 2027."}
    )
    Collection.objects.update(licence="CC BY 4.0")
    files = copy_of(empty, "https://board.example")
    cited, deposit = yaml.safe_load(files["CITATION.cff"]), json.loads(files[".zenodo.json"])
    assert cited["authors"] == [{"name": "Inês Moura"}] and cited["license"] == "CC-BY-4.0"
    assert cited["message"] == "Please cite: Moura, Bread 2027."
    assert deposit["creators"] == [{"name": "Inês Moura", "affiliation": "Porto"}]
    assert deposit["license"] == "cc-by-4.0" and cited["url"].startswith("https://board.example/")


def test_odd_characters_are_cited_as_they_are(empty):
    odd = "It’s “bread”: 50 % \x92\x85 \u2028 #1\nüñ 🍞"
    empty.description = odd
    assert yaml.safe_load(copy_of(empty)["CITATION.cff"])["abstract"] == odd


def test_an_unknown_licence_is_told_in_words(empty):
    Collection.objects.update(licence="for research, on request")
    files = copy_of(empty)
    assert "license" not in yaml.safe_load(files["CITATION.cff"])
    assert "for research, on request" in json.loads(files[".zenodo.json"])["notes"]


def test_every_file_of_the_collection_is_described_with_its_digest(empty):
    empty.shares_judgments = True
    empty.save()
    files = copy_of(empty)
    described = json.loads(files["croissant.json"])["distribution"]
    assert {file["name"] for file in described} >= {"data/topics.jsonl", "data/qrels-v1.txt"}
    for file in described:
        content = files[file["contentUrl"]].encode()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.night
def test_the_tools_of_each_format_read_what_a_copy_says(released, tmp_path):
    import mlcroissant
    from cffconvert import Citation

    Collection.objects.update(licence="CC BY 4.0")
    Track.objects.update(shares_judgments=True)
    call_command("publish_board", "bread", tmp_path / "copy", site="https://board.example")
    Citation((tmp_path / "copy/CITATION.cff").read_text()).validate()
    dataset = mlcroissant.Dataset(tmp_path / "copy/croissant.json")
    assert not dataset.metadata.ctx.issues.errors and not dataset.metadata.ctx.issues.warnings
    judged = [tuple(record.values()) for record in dataset.records("judgments")]
    lines = [line.split() for line in (tmp_path / "copy/data/qrels-v1.txt").open()]
    assert judged == [(topic.encode(), d.encode(), int(g)) for topic, _, d, g in lines]
