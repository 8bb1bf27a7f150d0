"""Answers judged by people: pairs pooled once, judged blind, and closed as a layer of marks."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from evaluation.answers import drawn_pairs as pairs
from leaderboard.actions import assessments, pools
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.judge_agreement import compute_assessor_agreement
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.items import find_beside
from leaderboard.assessments.kinds import read_items
from leaderboard.assessments.progress import find_disputes, measure_assessment
from leaderboard.assessments.workload import measure_workload
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.few_marked import METHOD
from leaderboard.boards.nugget_files import render_marks
from leaderboard.collections.answer_pools import read_pair
from leaderboard.collections.machine_replies import load_replies
from leaderboard.collections.mark_layers import load_assignments
from leaderboard.collections.pool_frames import list_strata, read_frame
from leaderboard.collections.pools import table_lines
from leaderboard.collections.prompting import render_assessment_prompts
from leaderboard.models import Assessment, Assignment, MarkLayer, Pool, Score, ScoreSet, Track, User
from tests.assessments.marks import judge_everything
from tests.builders import make_assessment, make_pool, make_run, make_track, work
from tests.pages.reading import page_at, words
from tests.scoring.test_answer_runs import ANSWERS, RISES, SLOWLY, answer
from tests.scoring.test_marks import ASSIGNMENTS, VITAL, make_layer, make_nuggets, use

# The second run says one sentence of the first, with one of its documents, and another one.
OTHER = answer("1", RISES, ("Salt slows it down.", ["d3"])).replace("ben-rag", "cat-rag")


@pytest.fixture
def track(collection, ben, cat) -> Track:
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_run(track, cat, OTHER)
    make_nuggets(track)
    return track


def pool_answers(track: Track, method: str, size: int = 2) -> Pool:
    return make_pool(track, track.benchmark.owner, list(track.runs.all()), size, method)


def judge_pool(pool: Pool, *assessors: User, **fields: object) -> Assessment:
    return make_assessment(pool, pool.track.benchmark.owner, *assessors, **fields)


def first_assignment(assessment: Assessment) -> Assignment:
    assignment = Assignment.objects.get(assessor__assessment=assessment, topic__number="1")
    draw_documents(assignment)
    return assignment


def test_a_pool_pairs_every_answer_with_every_nugget(track):
    pool = pool_answers(track, "answers")
    # Topic 1 has two answers and three nuggets, topic 2 one of each.
    assert (pool.state, pool.summary["documents"], pool.summary["new"]) == ("kept", 7, 7)
    assert pool.nuggets == track.nugget_versions.get()


def test_equal_sentences_with_a_document_are_one_pair(track):
    pool = pool_answers(track, "citations")
    assert pool.summary["documents"] == 4 + 2 + 1
    assert pool.summary["shared"] == [5, 2]
    assert pool_answers(track, "citations", 1).summary["documents"] == 2 + 1 + 1


def test_a_pool_of_rankings_has_no_answers(collection, ben, ada):
    track = make_track(collection)
    run = make_run(track, ben)
    with pytest.raises(ActionError, match="no answers"):
        pools.create_pool(track, ada, [run], "answers", 1)


def test_the_nuggets_of_an_answer_follow_each_other(track, dan):
    assignment = first_assignment(judge_pool(pool_answers(track, "answers"), dan))
    pairs = [read_pair(each.docno) for each in assignment.documents.all()]
    assert [pair.other for pair in pairs] == ["1", "2", "3"] * 2
    assert len({pair.key for pair in pairs[:3]}) == 1


def test_an_answer_is_read_with_its_nuggets(track, dan):
    assignment = first_assignment(judge_pool(pool_answers(track, "answers"), dan))
    documents = list(assignment.documents.all())
    item = read_items(assignment, documents)[documents[0].pk]
    assert [each.nugget.text for each in item.nuggets] == ["yeast", "a day", "salt"]
    assert [each.is_current for each in item.nuggets] == [True, False, False]
    assert item.text.beginning.startswith("Wild yeast makes bread rise.")


def test_a_sentence_is_read_with_its_neighbours_and_the_document(track, dan):
    assignment = first_assignment(judge_pool(pool_answers(track, "citations"), dan))
    documents = list(assignment.documents.all())
    items = read_items(assignment, documents).values()
    slow = [item for item in items if item.beginning == SLOWLY[0]]
    assert [item.sentence.before for item in slow] == [RISES[0]] * 2
    assert all(item.text.exists for item in slow)


def test_closing_makes_a_layer_that_counts_for_equal_answers(track, dan):
    assessment = judge_pool(pool_answers(track, "answers"), dan)
    judge_everything(assessment, lambda document: 2 if document.docno.endswith(":1") else 0)
    assessments.close_assessment(assessment, track.benchmark.owner, "people-1")
    work()
    layer = MarkLayer.objects.get()
    assert (layer.state, layer.made_by, layer.num_marks) == ("ready", "people", 7)
    use(track, ["all"], assignments="people-1")
    means = {score.score_set.run.tag: score.mean for score in Score.objects.filter(measure="all")}
    assert means["ben-rag"] == pytest.approx((1 / 3 + 1) / 2)


def test_marks_made_here_are_downloaded_for_each_run_that_says_it(track, dan):
    assessment = judge_pool(pool_answers(track, "citations"), dan)
    judge_everything(assessment, lambda document: 2)
    assessments.close_assessment(assessment, track.benchmark.owner, "people-1")
    work()
    lines = list(render_marks(sight_of(track, track.benchmark.owner), MarkLayer.objects.get()))
    assert "ben-rag 1 1 d1 support\n" in lines and "cat-rag 1 1 d1 support\n" in lines


def test_what_a_late_run_adds_is_judged_alone(track, dan, eve):
    assessment = judge_pool(pool_answers(track, "citations"), dan)
    judge_everything(assessment, lambda document: 2)
    assessments.close_assessment(assessment, track.benchmark.owner, "people-1")
    work()
    use(track, ["SupportP"], support="people-1")
    make_run(track, eve, answer("1", RISES, ("Rye rises too.", ["d4"])).replace("ben-rag", "late"))
    bounds = ScoreSet.objects.get(run__tag="late", edition=track.edition).bounds
    _, low, high = bounds["SupportP"]
    assert low < high
    assert pool_answers(track, "citations").summary["new"] == 1


def test_support_that_is_judged_here_is_scored(track, dan):
    assessment = judge_pool(pool_answers(track, "citations"), dan)
    judge_everything(assessment, lambda document: 3 if document.docno.endswith(":d9") else 2)
    assessments.close_assessment(assessment, track.benchmark.owner, "people-1")
    work()
    use(track, ["SupportP"], support="people-1")
    score = Score.objects.get(measure="SupportP", score_set__run__tag="cat-rag")
    assert score.values[0] == 1


def test_what_people_marked_before_is_left_out_and_kept(track, dan):
    make_layer(track, ASSIGNMENTS)
    use(track, ["all"], assignments="people")
    pool = pool_answers(track, "answers")
    assert (pool.summary["new"], pool.summary["judged"]) == (3, 4)
    assessment = judge_pool(pool, dan)
    judge_everything(assessment, lambda document: 1)
    assessments.close_assessment(assessment, track.benchmark.owner, "people-1")
    work()
    layer = MarkLayer.objects.get(version="people-1")
    assert (layer.num_marks, layer.joins.version) == (7, "people")
    run = track.runs.get(tag="ben-rag")
    assert load_assignments(layer, run).marks[run.pk, "2"]


def test_marks_of_a_machine_are_never_joined(track, dan):
    make_layer(track, ASSIGNMENTS, made_by="machine", machine="gpt-x/p3")
    use(track, ["all"], assignments="people")
    assert pool_answers(track, "answers").marked_in is None


def test_labels_are_judged_in_random_order_and_have_no_middle(track):
    pool = pool_answers(track, "answers")
    for wrong in ({"order": "docno"}, {"rule": "median"}):
        with pytest.raises(ActionError):
            judge_pool(pool, **wrong)


def test_assessors_of_teams_never_judge_what_only_their_team_said(track, ben, cat):
    assessment = judge_pool(pool_answers(track, "citations"), ben, cat, allows_participants=True)
    for name, own in {"A1": "d2", "A2": "d3"}.items():
        for assignment in Assignment.objects.filter(assessor__name=name):
            draw_documents(assignment)
            assert own not in {read_pair(each.docno).other for each in assignment.documents.all()}
    assert assessment.assessors.count() == 2


def test_members_of_teams_in_the_pool_are_refused(track, ben):
    with pytest.raises(ActionError, match="cannot judge"):
        judge_pool(pool_answers(track, "answers"), ben)


ORGANISED = ["", "assessors/", "guideline/", "disagreements/", "marks/", "agreement/", "settings/"]


@pytest.mark.parametrize("method", ["answers", "citations"])
def test_pages_of_organisers_speak_of_pairs(track, as_ada, dan, eve, method):
    judging = judge_pool(pool_answers(track, method), dan, eve, overlap="all", overlap_size=2)
    judge_everything(judging, lambda document: 2, only="A1")
    judge_everything(judging, lambda document: 3, only="A2")
    address = f"/benchmarks/bread/judging/{judging.name}/"
    for page in (*ORGANISED, "close/"):
        assert as_ada.get(address + page).status_code == 200, page
    listed = as_ada.get(f"{address}disagreements/").text
    assert ("salt" if method == "answers" else SLOWLY[0]) in listed
    dispute = find_disputes(judging)[0]
    topic = track.collection.topics.get(pk=dispute.topic)
    one = {"topic": topic.number, "docno": dispute.docno}
    assert "Wild" in as_ada.get(f"{address}disagreements/", one).text
    as_ada.post(f"{address}disagreements/", {**one, "grade": "3"})
    assert len(find_disputes(judging)) == judging.pool.summary["new"] - 1


def test_a_contradiction_is_the_least_of_the_labels(track, as_ada, dan, eve):
    judging = judge_pool(pool_answers(track, "answers"), dan, eve, overlap="all", overlap_size=2)
    judge_everything(judging, lambda document: 2 if document.docno.endswith(":1") else 0, only="A1")
    judge_everything(judging, lambda document: 2 if document.docno.endswith(":1") else 3, only="A2")
    found = compute_assessor_agreement(judging)
    assert found.alphas["ordinal"] > found.alphas["nominal"]
    address = f"/benchmarks/bread/judging/{judging.name}/agreement/"
    assert "What to expect" in as_ada.get(address).text
    assert "a day" in as_ada.get(address, {"row": 0, "column": 3}).text


@pytest.mark.parametrize(("method", "about"), [("answers", "nuggets"), ("citations", "support")])
def test_prompts_come_back_with_labels_as_the_layer_of_a_machine(track, dan, method, about):
    judging = judge_pool(pool_answers(track, method), dan)
    prompts = [json.loads(line) for line in render_assessment_prompts(judging)]
    assert set(prompts[0]["guideline"]["labels"]) == {"support", "partial", "none", "contradicts"}
    for prompt in prompts:
        if about == "nuggets":
            prompt["labels"] = {each["key"]: "partial" for each in prompt["nuggets"]}
        else:
            prompt["label"] = "partial"
        prompt["reply"] = "In part."
    lines = "".join(json.dumps(prompt) + "\n" for prompt in prompts)
    named = {"made_by": "machine", "machine": "gpt-x/p3", "about": about}
    layer = make_layer(track, lines, nuggets=judging.pool.nuggets, **named)
    assert (layer.state, layer.num_marks) == ("ready", 7), layer.problems
    assert "secret" not in lines and "rag" not in lines
    items = [load_replies(layer, row.topic) for row in layer.machine_replies.all()]
    asked = [prompt["id"].split(" ", 2)[2] for prompt in prompts]
    assert sorted(reply.item for of in items for reply in of) == sorted(asked)


def test_a_contradiction_is_not_found(track, dan):
    judging = judge_pool(pool_answers(track, "answers"), dan)
    judge_everything(judging, lambda document: 3 if document.docno.endswith(":1") else 1)
    opinions = measure_assessment(judging).opinions
    assert (opinions.graded, opinions.relevant) == (7, 4)


def test_an_invitation_says_what_is_judged(track, client, as_ada, dan):
    judging = judge_pool(pool_answers(track, "answers"), dan)
    page = client.get(f"/judging/join/{judging.invitation}/").text
    assert "say which nuggets each has" in page
    assert measure_workload(judging).seconds == 10


def test_twelve_nuggets_stand_beside_an_answer(collection, ben, dan):
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    nuggets = [{"text": f"nugget {number}", **VITAL} for number in range(1, 31)]
    make_nuggets(track, json.dumps({"qid": "1", "nuggets": nuggets}) + "\n")
    assignment = first_assignment(judge_pool(pool_answers(track, "answers"), dan))
    document = assignment.documents.get(docno__endswith=":14")
    item = read_items(assignment, [document])[document.pk]
    assert [each.number for each in item.nuggets] == list(range(13, 25))


def test_the_layer_that_closing_made_leads_to_the_board(track, as_ada, dan):
    judging = judge_pool(pool_answers(track, "answers"), dan)
    judge_everything(judging, lambda document: 2)
    address = f"/benchmarks/bread/judging/{judging.name}/"
    as_ada.post(f"{address}close/", {"version": "people-1"})
    work()
    impact = "/benchmarks/bread/marks/people-1/impact/"
    assert f'href="{impact}"' in as_ada.get(address).text
    assert as_ada.get(impact).status_code == 200


@pytest.fixture
def drawn(track, monkeypatch) -> Pool:
    """Ten of forty pairs: twelve runs say one sentence, and each another one with two documents."""
    # By chance all pairs of a run may be drawn, which then has a score and no estimate.
    monkeypatch.setattr("leaderboard.collections.pools.secrets.randbelow", lambda most: 7)
    for number in range(12):
        user = User.objects.create_user(f"team{number}")
        own = answer("1", RISES, (f"Fact {number} of it.", ["d2", "d3"]))
        make_run(track, user, own.replace("ben-rag", f"run{number}"))
    found = pools.create_pool(
        track, track.benchmark.owner, list(track.runs.all()), "citations", 2, drawn=10
    )
    work()
    found.refresh_from_db()
    return found


def test_drawn_pairs_keep_their_probabilities(drawn):
    rows, _ = read_frame(drawn)
    kept = [row for row in rows if row.is_drawn]
    assert len(rows) == drawn.summary["documents"] and drawn.summary["new"] == len(kept) == 10
    lines = [line.split(b"\t") for line in table_lines(drawn)][1:]
    strata = {stratum.cover: stratum for stratum in list_strata(drawn)}
    assert {float(line[4]) for line in lines} == {each.inclusion for each in strata.values()}
    assert sum(each.drawn for each in strata.values()) == 10


def test_what_many_runs_say_is_more_likely_to_be_drawn(drawn):
    strata = {stratum.cover: stratum.inclusion for stratum in list_strata(drawn)}
    assert strata["more runs"] == 1 > strata["one run"]


def test_drawn_pairs_are_judged_and_priced_alone(drawn, dan, as_ada):
    page = as_ada.get(f"/benchmarks/bread/pools/{drawn.name}/").text
    assert "10</b> to judge" in page and "Drawn at random" in page
    pools.approve_pool(drawn, drawn.track.benchmark.owner)
    drawn.refresh_from_db()
    assert measure_workload(judge_pool(drawn, dan)).marks == 10


@pytest.fixture
def estimated(drawn, dan, monkeypatch) -> Track:
    """The drawn pairs are judged, and score the answers by two measures."""
    monkeypatch.setattr(pairs, "FEWEST_LABELS", 0)
    pools.approve_pool(drawn, drawn.track.benchmark.owner)
    drawn.refresh_from_db()
    assessment = judge_pool(drawn, dan)
    judge_everything(assessment, lambda document: 0 if document.docno.endswith(":d3") else 2)
    assessments.close_assessment(assessment, drawn.track.benchmark.owner, "drawn")
    work()
    use(drawn.track, ["SupportP(cites=all)", "SupportF1"], support="drawn")
    return drawn.track


def test_scores_are_estimated_from_drawn_pairs(estimated, client):
    bounds = ScoreSet.objects.get(run__tag="run3", edition=estimated.edition).bounds
    value, margin, over_topics = bounds["SupportP(cites=all)"][3]
    assert value >= 0 and margin >= 0 and over_topics >= 0
    assert bounds["SupportF1"][3] == "SupportF1 is no sum over pairs"
    page = words(page_at(client, "/benchmarks/bread/board/"))
    assert (
        "Estimated from drawn pairs" in page
        and "No estimate: SupportF1 is no sum over pairs" in page
    )


def of_run3(response) -> list[dict]:
    return [each for each in response.json()["standings"] if each["tag"] == "run3"]


def test_estimates_are_in_the_files_of_the_board_and_in_the_api(estimated, client):
    bounds = ScoreSet.objects.get(run__tag="run3", edition=estimated.edition).bounds
    value, margin, _ = bounds["SupportP(cites=all)"][3]
    page, name = "/benchmarks/bread/board/", "SupportP(cites=all)"
    (row,) = of_run3(client.get(f"{page}?format=json"))
    told = {part: row[f"{name}_estimate_{part}"] for part in ("value", "low", "method")}
    assert told == {"value": value, "low": value - margin, "method": METHOD}
    assert f"{name}_estimate_low," in client.get(f"{page}?format=csv").text
    (row,) = of_run3(client.get("/api/v1/tracks/bread/leaderboard"))
    by_measure = {each["measure"]: each for each in row["estimates"]}
    assert by_measure[name].items() >= told.items()
    assert by_measure["SupportF1"]["why_none"] == "SupportF1 is no sum over pairs"


def test_estimates_sort_the_board(estimated, client):
    said = "rows sorted by SupportP(cites=all), estimated, reversed."
    column = "SupportP(cites=all)+estimated"
    page = page_at(client, f"/benchmarks/bread/board/?sort=-{column}&column={column}")
    assert 'aria-sort="ascending"' in page and said in words(page)


def test_who_sees_means_alone_sees_no_estimates(estimated, client, as_ada):
    Track.objects.filter(pk=estimated.pk).update(disclosure="leaderboard")
    found = client.get("/api/v1/tracks/bread/leaderboard").json()["standings"]
    assert found and not any(each["estimates"] for each in found)
    assert "estimate" not in client.get("/benchmarks/bread/board/?format=csv&column=all").text
    assert "estimate" in as_ada.get("/benchmarks/bread/board/?format=csv&column=all").text


def test_documents_are_drawn_by_samples_of_a_machine(collection, ben, ada):
    track = make_track(collection)
    run = make_run(track, ben)
    with pytest.raises(ActionError, match="Only pairs"):
        pools.create_pool(track, ada, [run], "depth", 10, drawn=10)


def send_mark(client: Client, assignment: Assignment, held: list[int]) -> list[int]:
    """Mark the first pair that a tab holds, as its script does; return those that it holds then."""
    marks = [{"key": f"k{pair}", "document": pair, "grade": 2} for pair in held[:1]]
    body = {"tab": "a", "marks": marks, "have": held}
    address = f"/judging/{assignment.pk}/marks/"
    answer = client.post(address, json.dumps(body), "application/json").json()
    assert [each["code"] for each in answer["results"]] == [""] * len(marks)
    return [*held[1:], *(each["document"] for each in answer["next"])]


@pytest.mark.parametrize(("method", "most"), [("answers", 19), ("citations", 18)])
def test_a_mark_with_the_next_pair_takes_few_queries(
    track, client, dan, method, most, django_assert_max_num_queries
):
    assignment = first_assignment(judge_pool(pool_answers(track, method), dan))
    client.force_login(dan)
    held = send_mark(client, assignment, [])
    held = send_mark(client, assignment, held)
    with django_assert_max_num_queries(most):
        assert send_mark(client, assignment, held)


def test_the_nuggets_beside_an_answer_are_read_twelve_at_a_time(track, dan):
    bank = {"qid": "1", "nuggets": [{"text": f"fact {n}"} for n in range(30)]}
    make_nuggets(track, json.dumps(bank) + "\n", version="v2")
    assignment = first_assignment(judge_pool(pool_answers(track, "answers"), dan))
    fourteenth = assignment.documents.filter(docno__endswith=":14").first()
    beside = find_beside(assignment, [fourteenth.docno])
    assert sorted(int(read_pair(name).other) for name in beside) == [*range(13, 25)]
