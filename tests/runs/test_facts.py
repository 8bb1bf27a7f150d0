"""What a team states about its run, from the upload to the board."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from leaderboard.actions import runs as run_actions
from leaderboard.actions import submissions
from leaderboard.actions.submissions import RunDetails
from leaderboard.actions.uploads import NotAccepted
from leaderboard.models import Run
from leaderboard.runs.fact_changes import change_facts, load_history
from leaderboard.runs.facts import all_facts, clean_facts, read_header, render_metadata
from leaderboard.scoring.families import family_of
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work

FACTS = {
    "kind": "manual",
    "topic_fields": ["title", "narrative"],
    "stage": "rerank",
    "priority": 2,
    "code": "https://example.org/code?a=1#b",
    "paper": "https://doi.org/10.1/x",
    "llm": True,
    "closed": False,
    "models": 'a "model", 7b: quantised # yes',
    "training_data": "μSMARCO",
    "hardware": "one core",
    "lr": "1e-5",
    "retriever.depth": "100",
    "efficiency": [
        {"what": "seconds_per_topic", "value": 0.25, "unit": "s", "origin": "tool"},
        {"what": "memory", "value": 1.5, "unit": "GB", "origin": "self-reported"},
    ],
}


def send(track, user, text: str = RUN, **facts: object) -> Run:
    """A run that states these facts, checked and scored."""
    run = submissions.accept_run(track, user, upload("a.run", text), RunDetails(facts=facts)).run
    work()
    run.refresh_from_db()
    return run


def with_header(*lines: str) -> str:
    head = ["ir_metadata.start", *lines, "ir_metadata.end"]
    return "".join(f"# {line}\n" for line in head) + RUN


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("kind", "magic", "`kind` must be one of automatic, feedback, manual"),
        (
            "topic_fields",
            ["title", "colour"],
            "`topic_fields` must be a list of title, description",
        ),
        ("topic_fields", 5, "`topic_fields` must be a list of title, description"),
        ("topic_fields", [["title"]], "`topic_fields` must be a list of title, description"),
        ("priority", 10**400, "`priority` must be an integer from 1 to 999"),
        ("k1", 10**400, "`k1` may only contain text of up to 1,000 characters, numbers"),
        ("efficiency", [{"what": ["memory"]}], "`what` is one of seconds_per_topic"),
        ("efficiency", [{"what": "memory", "value": 10**400}], "the value must be a number"),
        (
            "efficiency",
            [{"what": "memory", "value": 1, "unit": {}, "origin": []}] * 2,
            "has a duplicate cost",
        ),
        ("priority", 0, "`priority` must be an integer from 1 to 999"),
        ("code", "http://example.org", "`code` must be a URL starting with https://"),
        ("code", "https://a@example.org", "`code` must be a URL starting with https://"),
        ("code", "javascript:alert(1)", "`code` must be a URL starting with https://"),
        ("llm", "perhaps", "`llm` must be true or false"),
        ("models", "\0", "`models` must be text of at most 1,000 characters"),
        ("efficiency", [{"what": "speed", "value": 1}], "`what` is one of seconds_per_topic"),
        ("efficiency", [{"what": "memory", "value": 0}], "memory: the value must be above 0"),
        ("efficiency", [{"what": "memory", "value": 1, "unit": "s"}], "the unit is one of GB"),
        ("efficiency", [{"what": "memory", "value": True}], "the value must be a number"),
        ("efficiency", [{"what": "memory", "value": 1}] * 2, "has a duplicate cost"),
    ],
)
def test_a_wrong_fact_is_refused_by_its_name(name, wrong, words):
    with pytest.raises(ValueError) as refusal:
        clean_facts({name: wrong})
    assert words in str(refusal.value)


def test_a_figure_is_kept_in_the_unit_of_its_cost():
    facts = clean_facts({"efficiency": [{"what": "memory", "value": "512 MB"}]})
    figure = {"what": "memory", "value": 0.512, "unit": "GB", "origin": "self-reported"}
    assert facts == {"efficiency": [figure]}


def test_what_a_team_states_is_kept_with_its_run(track, ben):
    assert all_facts(send(track, ben, **FACTS)) == FACTS


def test_facts_that_a_track_asks_for_are_not_optional(collection, ben):
    track = make_track(collection, required_facts=["topic_fields", "hardware"])
    with pytest.raises(NotAccepted, match=r"facts: this track requires `hardware`\."):
        send(track, ben, topic_fields=["title"])
    assert not Run.objects.exists()


def test_organisers_bring_old_runs_of_which_little_is_known(collection, ada):
    track = make_track(collection, required_facts=["hardware"])
    assert send(track, ada).state == "scored"


def test_the_header_of_the_file_states_what_the_team_did_not(track, ben):
    lines = ("implementation:", "  source:", "    repository: https://example.org/x")
    run = send(track, ben, with_header(*lines, "rankfield:", "  priority: 3"), priority=1)
    assert all_facts(run) == {"kind": "automatic", "code": "https://example.org/x", "priority": 1}
    assert [(change.by, change.facts[0].label) for change in load_history(run)] == [("", "Code")]


def test_a_trackers_wall_clock_is_a_figure_of_a_tool():
    facts = read_header({"resources.runtime.wallclock": "1250 ms"})
    figure = {"what": "run_seconds", "value": 1.25, "unit": "s", "origin": "tool"}
    assert facts == {"efficiency": [figure]}


def test_a_header_that_cannot_be_used_states_nothing(track, ben):
    run = send(track, ben, with_header("rankfield:", "  priority: soon", "  code: ftp://x"))
    assert (run.state, run.facts) == ("scored", {})


def test_metadata_that_were_taken_home_come_back_as_they_were(track, ben, cat):
    lines = render_metadata(send(track, ben, **FACTS)).replace("ben-bm25", "again").splitlines()
    again = send(track, cat, with_header(*lines).replace("ben-bm25", "again"))
    assert all_facts(again) == {**FACTS, "kind": "automatic"}


def test_every_change_is_kept_with_what_was_before(track, ben):
    run = send(track, ben, stage="rerank")
    change_facts(run, ben, {"stage": "fusion", "llm": False})
    change = load_history(run)[0]
    told = [(fact.label, fact.before, fact.after) for fact in change.facts]
    assert told[0] == ("Stage", "rerank", "fusion")
    assert (change.by, told[1][1:]) == ("ben", ("not stated", "no"))


def test_a_fact_can_be_taken_back(track, ben):
    run = send(track, ben, stage="rerank")
    change_facts(run, ben, {"stage": None})
    run.refresh_from_db()
    assert run.facts == {}


def test_saying_the_same_again_is_no_change(track, ben):
    run = send(track, ben, stage="rerank")
    change_facts(run, ben, {"stage": "rerank"})
    assert load_history(run) == []


def family(track) -> set[str]:
    track.refresh_from_db()
    return set(family_of(track.edition))


def test_the_primary_run_of_each_team_stands_on_the_board(collection, ben, cat):
    track = make_track(collection, selection="primary")
    send(track, ben)
    primary, first = send(track, ben, OTHER_RUN, primary=True), send(track, cat)
    send(track, cat, OTHER_RUN)
    assert family(track) == {primary.pk, first.pk}


def test_runs_of_organisers_stay_beside_the_primary_ones(collection, ada, ben):
    track = make_track(collection, selection="primary")
    runs = [make_run(track, ada), make_run(track, ada, OTHER_RUN), make_run(track, ben)]
    assert family(track) == {run.pk for run in runs}


def test_a_later_primary_run_takes_the_place_of_the_one_before(track, ben):
    first, second = send(track, ben, primary=True), send(track, ben, OTHER_RUN, primary=True)
    first.refresh_from_db()
    assert (first.is_primary, second.is_primary) == (False, True)
    change_facts(first, ben, {"primary": True})
    assert Run.objects.get(is_primary=True) == first


def test_a_refused_run_takes_nobodys_place(track, ben):
    first = send(track, ben, primary=True)
    assert send(track, ben, "1 Q0 d1", primary=True).state == "refused"
    assert Run.objects.get(is_primary=True, state="scored") == first


def test_where_the_primary_run_is_withdrawn_the_first_one_stands(collection, ben):
    track = make_track(collection, selection="primary")
    first, primary = send(track, ben), send(track, ben, OTHER_RUN, primary=True)
    run_actions.withdraw_run(primary, ben)
    assert family(track) == {first.pk}


def test_the_database_knows_one_primary_run_a_team(track, ben):
    send(track, ben, primary=True)
    send(track, ben, OTHER_RUN)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.update(is_primary=True)
