"""Rankings of systems as entrants, compared with the scores of another track of the benchmark."""

from __future__ import annotations

import pytest

from leaderboard.actions.benchmark_copies import copy_benchmark
from leaderboard.actions.runs import undo_withdrawal, withdraw_run
from leaderboard.actions.track_settings import check
from leaderboard.actions.tracks import change_track
from leaderboard.analysis.ranked_systems import find_or_request_rankings
from leaderboard.boards.disclosure import sight_of
from leaderboard.models import ApiToken, Run, Score, Track, User
from leaderboard.scoring.editions import start_edition
from leaderboard.scoring.system_runs import load_system_scores
from tests.archives.test_archives import command
from tests.benchmark_scene import join_tracks
from tests.builders import (
    OTHER_RUN,
    RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
    signed_in,
    upload,
    work,
)
from tests.pages.reading import page_at, rows, words

PAGE = "/benchmarks/loaf/tracks/order/judges/"
BOARD = "/benchmarks/loaf/tracks/order/board/"
API = "/api/v1/tracks/order/judges/systems"


def tagged(run: str, tag: str) -> str:
    """The same run under another tag."""
    return "".join(f"{line.rpartition(' ')[0]} {tag}\n" for line in run.splitlines())


OAK, ELM = tagged(RUN, "oak"), tagged(OTHER_RUN, "elm")
ASH = "1 Q0 d3 1 9.0 ash\n2 Q0 d5 1 9.0 ash\n3 Q0 d7 1 9.0 ash\n"
FIR = "1 Q0 d1 1 9.0 fir\n2 Q0 d4 1 9.0 fir\n3 Q0 d6 1 9.0 fir\n"


def make_scene(ada: User, ben: User, cat: User) -> None:
    """Three systems with scores, and two rankings of them: one with these scores, one turned."""
    collection = make_collection(ada)
    systems = make_track(collection, "systems")
    for name, run in {"dan": OAK, "eve": ELM, "fay": ASH}.items():
        make_run(systems, make_user(name), run)
    order = make_track(collection, "order", run_kind="system_rankings")
    join_tracks([systems, order], slug="loaf", name="Loaf")
    change_track(Track.objects.get(slug="order"), ada, {"systems": "systems"})
    work()
    rankings, means = Track.objects.get(slug="order"), means_of("systems")
    make_run(rankings, ben, "".join(f"{tag} {mean}\n" for tag, mean in means.items()), tag="exact")
    turned = sorted(means, key=lambda tag: means[tag])
    make_run(rankings, make_user("gil"), "".join(f"{tag}\n" for tag in turned), tag="turned")


def means_of(slug: str, measure: str = "AP") -> dict[str, float]:
    """The means of the runs on a board by their tags."""
    edition = Track.objects.get(slug=slug).edition
    scores = Score.objects.filter(score_set__edition=edition, measure=measure)
    return dict(scores.values_list("score_set__run__tag", "mean"))


@pytest.fixture
def track(scene: None) -> Track:
    return Track.objects.get(slug="order")


def test_a_ranking_of_systems_is_a_run(track):
    assert {run.state for run in track.runs.all()} == {"scored"}
    scores = load_system_scores(track.runs.get(tag="exact"))
    tags = dict(Run.objects.values_list("pk", "tag"))
    assert {tags[run]: score for run, score in scores.items()} == means_of("systems")
    assert list(load_system_scores(track.runs.get(tag="turned")).values()) == [3, 2, 1]


def test_rankings_are_compared_with_the_board_of_the_systems(track, ada):
    find_or_request_rankings(sight_of(track, ada))
    work()
    exact, turned = find_or_request_rankings(sight_of(track, ada)).rows
    assert (exact.run.tag, exact.value.value, exact.error, exact.bias) == ("exact", 1, 0, 0)
    assert (turned.value.value, turned.error, turned.named, turned.rank) == (-1, None, 3, None)
    assert {name: each.value for name, each in exact.statistics.items()} == dict.fromkeys(
        ("tau", "tau_ap", "top"), 1
    )


def test_the_page_shows_rankings_and_systems(track, client):
    assert "The rankings are being compared" in page_at(client, PAGE)
    work()
    page = page_at(client, PAGE)
    assert "exact ranks the systems most like their scores: τ 1.000" in words(page)
    assert "Too few topics count for ranks" in words(page)
    assert rows(page)[1].startswith("– – turned gil – −1.000")
    assert [row.split()[-2:] for row in rows(page, 1)] == [["1", "3"], ["2", "2"], ["3", "1"]]


def test_the_numbers_are_tables_as_csv_and_in_the_api(track, client):
    page_at(client, PAGE)
    work()
    table = client.get(PAGE + "?format=csv").content.decode()
    assert table.startswith("run,tag,team,rank,letters,best_rank,worst_rank,tau,tau_low,tau_high")
    assert client.get(PAGE + "?format=csv&table=systems").text.count("\n") == 4
    assert client.get(PAGE + "?format=csv&table=other").status_code == 404
    found = client.get(API).json()
    assert (found["track"], found["measure"], found["topics"]) == ("systems", "AP", 3)
    assert [each["tau"] for each in found["judges"]] == [1, -1] and len(found["systems"]) == 3


def test_the_board_follows_the_systems(track, ada, ben):
    assert sight_of(track, ada).edition.settings["ranked_runs"]["measure"] == "AP"
    make_run(Track.objects.get(slug="systems"), ben, FIR)
    work()
    now = Track.objects.get(slug="order")
    assert now.edition != track.edition and len(now.edition.settings["ranked_runs"]["runs"]) == 4
    find_or_request_rankings(sight_of(now, ada))
    work()
    exact, _ = find_or_request_rankings(sight_of(now, ada)).rows
    assert exact.named == 3 and exact.value.value < 1


def test_a_withdrawn_system_leaves_the_board(track, ada):
    withdraw_run(Run.objects.get(tag="ash"), ada, "by mistake")
    work()
    now = Track.objects.get(slug="order")
    assert len(now.edition.settings["ranked_runs"]["runs"]) == 2
    undo_withdrawal(Run.objects.get(tag="ash"), ada)
    work()
    assert Track.objects.get(slug="order").edition == track.edition


def test_another_measure_makes_another_board(track, ada):
    change_track(track, ada, {"systems_measure": "P@5"})
    work()
    now = Track.objects.get(slug="order")
    assert now.edition.settings["ranked_runs"]["measure"] == "P@5"
    find_or_request_rankings(sight_of(now, ada))
    work()
    assert find_or_request_rankings(sight_of(now, ada)).rows[0].error > 0


def test_a_renamed_track_keeps_its_rankings(track, ada):
    change_track(Track.objects.get(slug="systems"), ada, {"slug": "trees"})
    now = Track.objects.get(slug="order")
    assert now.systems == "trees" and start_edition(now) == track.edition


def test_next_years_rankings_are_of_next_years_systems(track, ada):
    later = copy_benchmark(track.benchmark, ada, "Loaf again", "loaf-again", {})
    systems, order = later.tracks.in_order()
    assert order.ranks_systems and order.systems == systems.slug != "systems"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("oak 1\nyew 2\n", "E_UNKNOWN_SYSTEM", 2),
        ("oak 1\nelm nan\n", "E_SCORE", 2),
        ("oak 1\nelm 2\noak 3\n", "E_DUP_SYSTEM", 3),
        ("oak 1\n", "E_FEW_SYSTEMS", None),
        ("", "E_EMPTY", None),
    ],
)
def test_faults_of_a_ranking_are_told_by_line(track, ben, text, code, line):
    run = make_run(track, ben, text or "\n")
    assert run.state == "refused" and run.problem_totals == {code: 1} | (
        {} if text else {"W_BLANK": 1}
    )
    assert [each["line"] for each in run.problems if each["code"] == code] == [line]


def test_a_ranking_is_sent_by_a_form_or_a_program_within_the_quota(track, as_ben, ben, client):
    Track.objects.filter(pk=track.pk).update(quota_total=3)
    form = {"file": upload("by-form.csv", "system,score\nash,2\nelm,3\noak,1\n")}
    as_ben.post("/benchmarks/loaf/tracks/order/submit/", form | {"kind": "automatic"})
    _, secret = ApiToken.objects.issue(ben, ["submit"])
    token = {"Authorization": f"Bearer {secret}"}
    texts = ('["oak", "ash"]', '["elm", "ash"]')
    first, second = (
        client.post("/api/v1/tracks/order/runs", {"file": upload("x.json", text)}, headers=token)
        for text in texts
    )
    work()
    runs = {run.tag: run.format for run in ben.runs.filter(track=track, state="scored")}
    assert runs == {"exact": "scores", "by-form": "scores", "x": "order"}
    assert first.status_code == 201 and second.json()["code"] == "E_QUOTA"


def test_a_system_goes_by_its_id_too_but_only_once(track, ben):
    ids = dict(Run.objects.values_list("tag", "pk"))
    named = make_run(track, ben, f"{ids['elm']}\n{ids['oak']}\nash\n", tag="by-id")
    assert named.state == "scored" and len(load_system_scores(named)) == 3
    twice = make_run(track, ben, f"{ids['elm']} 1\nelm 2\n", tag="twice")
    assert (twice.state, twice.problem_totals) == ("refused", {"E_DUP_SYSTEM": 1})


def test_a_tag_of_two_systems_is_not_clear(track, ben):
    make_run(Track.objects.get(slug="systems"), ben, tagged(FIR, "elm"))
    run = make_run(track, ben, "elm\noak\n", tag="unclear")
    assert (run.state, run.problem_totals) == ("refused", {"E_AMBIGUOUS_SYSTEM": 1})


def test_what_is_not_ranked_is_counted(track, ben):
    run = make_run(track, ben, "elm\noak\n", tag="short")
    assert (run.state, run.problem_totals) == ("scored", {"W_MISSING_SYSTEM": 1})


def test_rankings_wait_until_the_systems_are_chosen(track, ben, ada):
    change_track(track, ada, {"systems": ""})
    run = make_run(Track.objects.get(slug="order"), ben, "oak\nash\n", tag="early")
    assert (run.state, run.problem_totals) == ("refused", {"E_SYSTEMS": 1})


@pytest.mark.parametrize(
    "hidden",
    [
        {"disclosure": "blind"},
        {"disclosure": "leaderboard"},
        {"is_draft": True},
        {"visibility": "members"},
    ],
    ids=str,
)
def test_nothing_is_shown_before_the_scores_of_the_systems(track, client, as_ada, hidden):
    Track.objects.filter(slug="systems").update(**hidden)
    for address in (PAGE, API, "/api/v1/tracks/order/runs"):
        shown = client.get(address)
        assert shown.status_code == 404 or shown.json()["items"] == []
        assert as_ada.get(address).status_code == 200
    assert "Scores hidden until those of the systems appear" in page_at(client, BOARD)


def test_who_judges_the_systems_sees_no_ranking_scored(track, as_ben, ben):
    systems = Track.objects.get(slug="systems")
    pool = make_pool(systems, systems.benchmark.owner, list(systems.runs.all()))
    make_assessment(pool, systems.benchmark.owner, ben, allows_participants=True)
    assert as_ben.get(PAGE).status_code == 404


def test_who_judges_the_systems_is_not_given_the_page_of_another(track):
    hal, ivy = make_user("hal"), make_user("ivy")
    systems = Track.objects.get(slug="systems")
    pool = make_pool(systems, systems.benchmark.owner, list(systems.runs.all()))
    make_assessment(pool, systems.benchmark.owner, ivy)
    assert "exact" in page_at(signed_in(hal), BOARD)
    assert "exact" not in page_at(signed_in(ivy), BOARD)


def test_a_draft_is_not_named_to_others(track, client, as_ada):
    Track.objects.filter(slug="systems").update(is_draft=True)
    assert "systems" not in client.get("/api/v1/tracks/order").json()
    assert "Systems track" not in page_at(client, "/benchmarks/loaf/tracks/order/")
    assert as_ada.get("/api/v1/tracks/order").json()["systems"] == "systems"


def test_pseudonyms_name_the_systems(track, ben):
    Track.objects.filter(slug="systems").update(pseudonyms=True)
    systems = Track.objects.get(slug="systems")
    names = [run.pseudonym for run in systems.runs.select_related("track")]
    run = make_run(track, ben, "".join(f"{name}\n" for name in names), tag="masked")
    assert (run.state, len(load_system_scores(run))) == ("scored", 3)
    guess = make_run(track, ben, "oak\nelm\n", tag="guess")
    assert guess.problem_totals == {"E_UNKNOWN_SYSTEM": 2}


def test_systems_of_another_benchmark_cannot_be_chosen(track):
    apart = make_track(track.collection, "apart", run_kind="system_rankings")
    assert [each.field for each in check(apart, {"systems": "systems"})] == ["systems"]
    assert check(track, {"systems": "systems", "systems_measure": "AP"}) == []
    wrong = check(track, {"systems_measure": "RBP(p=0.5)"})
    assert [each.field for each in wrong] == ["systems_measure"]
    assert [each.field for each in check(track, {"systems": "order"})] == ["systems"]


def test_the_systems_are_chosen_on_the_settings(track, as_ada):
    page = page_at(as_ada, "/benchmarks/loaf/tracks/order/manage/section/systems/")
    assert "Systems track" in page and "Order track</option>" not in page


def test_rankings_make_no_boards_by_judge(track, client):
    assert client.get(PAGE + "boards/").status_code == 404
    for address in ("judges", "judges/boards"):
        assert client.get(f"/api/v1/tracks/order/{address}").status_code == 404
    assert client.get("/api/v1/tracks/systems/judges/systems").status_code == 404


def test_rankings_come_out_of_an_archive_with_the_systems(track, tmp_path):
    command("export_benchmark", "loaf", tmp_path / "loaf.zip")
    names = ("--benchmark", "away", "--prefix", "away-")
    said = command("import_benchmark", tmp_path / "loaf.zip", *names)
    assert "All scores match the archive exactly." in said
    away = Track.objects.get(slug="away-order")
    assert (away.systems, away.runs.count()) == ("away-systems", 2)


def test_ids_and_former_names_come_out_of_an_archive_too(track, ben, tmp_path):
    ids = dict(Run.objects.values_list("tag", "pk"))
    make_run(track, ben, f"{ids['elm']}\n{ids['oak']}\nash\n", tag="by-id")
    command("export_benchmark", "loaf", tmp_path / "loaf.zip")
    names = ("--benchmark", "away", "--prefix", "away-")
    said = command("import_benchmark", tmp_path / "loaf.zip", *names)
    assert "All scores match the archive exactly." in said
    away = Run.objects.get(track__slug="away-order", tag="by-id")
    assert ids["elm"] not in load_system_scores(away) and away.state == "scored"


def test_the_board_says_how_well_systems_are_ordered_on_each_topic(track):
    by_tag = means_of("order", "nDCG@10")
    assert by_tag["turned"] < by_tag["exact"] <= 1
