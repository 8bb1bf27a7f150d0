"""A version is one version, and the benchmark's quota holds, when a team sends several at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.services import people
from tests.services.machines import Site
from tests.services.people import Person
from tests.services.racing import answer_to, bring_collection, open_track

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

AT_ONCE = 8
QUOTA = 3
COLLECTION = "benchmark-races"
TRACKS = ("left", "right")


@pytest.fixture(scope="session")
def organisers() -> dict[str, Person]:
    return {}


@pytest.fixture
def ada(site: Site, organisers: dict[str, Person]) -> Person:
    """An organiser at a browser, the same for every test of a site."""
    if site.url not in organisers:
        organisers[site.url] = people.organiser(site, "benchmark-race-ada")
        bring_collection(site, organisers[site.url].token, COLLECTION)
    return organisers[site.url]


def make_benchmark(ada: Person, slug: str, **settings: Any) -> str:
    """A benchmark of two tracks of one collection; files are recognised by their names."""
    slugs = [f"{slug}-{name}" for name in TRACKS]
    for track in slugs:
        open_track(ada.site, ada.token, track, collection=COLLECTION)
    named = ", ".join(f"'{track}'" for track in slugs)
    rows = ada.site.rows(f"select id from leaderboard_track where slug in ({named})")
    ada.open("/benchmarks/new/")
    page = ada.send("/benchmarks/new/", name=slug, slug=slug, tracks=[key for (key,) in rows])
    assert page.address == f"/benchmarks/{slug}/", page.text
    for section, form in {"people": {"joining": "everyone"}, "runs": settings}.items():
        page = ada.send(f"/benchmarks/{slug}/manage/section/{section}/", **form)
        assert "Saved." in page.text
    return slug


Request = tuple[str, dict[str, str]]


def sent_at_once(
    site: Site, token: str, benchmark: str, requests: Sequence[Request]
) -> list[tuple[int, dict[str, Any]]]:
    """Submit all at the same moment: each a version, with the document that leads its runs."""

    def send(request: Request) -> tuple[int, dict[str, Any]]:
        version, runs = request
        files = [
            SimpleUploadedFile(f"{benchmark}-{name}.run", f"1 Q0 {docno} 1 1.0 x\n".encode())
            for name, docno in runs.items()
        ]
        told = {"name": "oven", "version": version, "files": files}
        return answer_to(site.request(f"/benchmarks/{benchmark}/systems", token, **told))

    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(send, requests))


def stored(site: Site, benchmark: str, version: str) -> tuple[int, int]:
    """How many versions of this label there are, and how many runs of them."""
    of_version = (
        "from leaderboard_systemversion v join leaderboard_system s on s.id = v.system_id "
        "join leaderboard_benchmark t on t.id = s.benchmark_id {} "
        f"where t.slug = '{benchmark}' and v.label = '{version}'"
    )
    [(versions,)] = site.rows(f"select count(*) {of_version.format('')}")
    runs_of_it = of_version.format("join leaderboard_run r on r.version_id = v.id")
    [(runs,)] = site.rows(f"select count(*) {runs_of_it}")
    return versions, runs


def test_the_same_version_sent_several_times_at_once_is_one_version(site, ada):
    benchmark, token = make_benchmark(ada, "same"), site.manage("create_token", "same-ben")
    answers = sent_at_once(site, token, benchmark, [("1", dict.fromkeys(TRACKS, "d1"))] * AT_ONCE)
    assert [status for status, _ in answers] == [202] * AT_ONCE, answers
    assert len({str(sorted(run["run"] for run in told["runs"])) for _, told in answers}) == 1
    assert stored(site, benchmark, "1") == (1, 2)


def test_of_other_files_for_one_version_at_once_the_first_are_its_runs(site, ada):
    benchmark, token = make_benchmark(ada, "other"), site.manage("create_token", "other-ben")
    requests = [("1", dict.fromkeys(TRACKS, f"d{number}")) for number in range(AT_ONCE)]
    answers = sent_at_once(site, token, benchmark, requests)
    assert sorted(status for status, _ in answers)[0] == 202
    refused = [(status, told) for status, told in answers if status != 202]
    assert len(refused) == AT_ONCE - 1, answers
    assert all(status < 500 and "Nothing was submitted" in str(told) for status, told in refused)
    assert stored(site, benchmark, "1") == (1, 2)


def test_of_versions_at_once_the_quota_of_the_benchmark_is_taken_and_no_more(site, ada):
    benchmark = make_benchmark(ada, "quota", quota_total=QUOTA)
    token = site.manage("create_token", "quota-ben")
    requests = [(str(n), {TRACKS[n % 2]: f"d{n}"}) for n in range(AT_ONCE)]
    answers = sent_at_once(site, token, benchmark, requests)
    accepted = [told for status, told in answers if status == 202]
    assert len(accepted) == QUOTA, answers
    assert {told["code"] for status, told in answers if status != 202} == {"E_QUOTA"}
