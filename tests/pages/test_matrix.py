"""Who may open what: every page and act with every role, on tracks of every kind.

The resolver is walked, so an address without a row here fails, for reading and for acting apart.
Forms are right in themselves: whatever is refused is refused to its sender.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from leaderboard.actions import pools, snapshots
from leaderboard.archives.board_copies import ask_for_copy
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import (
    ApiToken,
    Assessment,
    Assignment,
    Battles,
    Benchmark,
    Edition,
    JudgmentSet,
    MachineCard,
    Notice,
    Run,
    System,
    SystemVersion,
    Track,
    User,
)
from tests.assessments.marks import judge_everything
from tests.benchmark_scene import join_tracks
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    TOPICS,
    make_assessment,
    make_collection,
    make_pool,
    make_reported,
    make_results_file,
    make_run,
    make_track,
    make_user,
    signed_in,
    store_an_answer,
    store_nuggets,
    store_replies,
    upload,
    work,
)
from tests.conftest import copy_files, made_once
from tests.security.test_headers import assert_guarded

pytestmark = pytest.mark.long

ROLES = ("anonymous", "cat", "ben", "dan", "eve", "ada", "kim", "sue")
# anonymous reader; Cat, a stranger; Ben, whose run it is; Dan of another team; Eve, who organises
# something else; Ada, who organises this; Kim, her co-organiser; Sue of the staff.
# 401 stands for the way to the login page.
EVERYBODY = [200, 200, 200, 200, 200, 200, 200, 200]
SIGNED_IN = [401, 200, 200, 200, 200, 200, 200, 200]
OWN_TEAM = [404, 404, 200, 404, 404, 200, 200, 200]
ORGANISERS = [401, 403, 403, 403, 403, 200, 200, 200]
ORGANISERS_404 = [401, 404, 404, 404, 404, 200, 200, 200]
OPENED = [404, 404, 404, 404, 404, 200, 200, 200]
# Cat judges documents of the collection.
NOT_JUDGING = [200, 404, 200, 200, 200, 200, 200, 200]
NOBODY = [404] * len(ROLES)
ACT = [401, 403, 403, 403, 403, 302, 302, 302]
# Kim may organise what exists, and create nothing.
MAY_CREATE = [401, 403, 403, 403, 403, 200, 403, 200]
CREATE_ACT = [401, 403, 403, 403, 403, 302, 403, 302]
ACT_404 = [401, 404, 404, 404, 404, 302, 302, 302]
# Cat judges documents, so she cannot take part.
ASSESSOR = [401, 200, 404, 404, 404, 404, 404, 404]
JOIN_ACT = [401, 422, 302, 302, 302, 302, 302, 302]
ASSESSOR_ACT = [401, 302, 404, 404, 404, 404, 404, 404]
SYSTEM_ACT = [401, 403, 302, 403, 403, 302, 302, 302]
OWN_ACT = [401, 404, 302, 404, 404, 302, 302, 302]
SIGNED_IN_ACT = [401, 302, 302, 302, 302, 302, 302, 302]

VOTE = '{"topic": "1", "left": "ben-bm25", "right": "other", "vote": "tie", "voter": "v1"}\n'

PAGES = {
    "home": ("/", EVERYBODY),
    "all_tracks": ("/tracks/", EVERYBODY),
    "organise": ("/organise/", EVERYBODY),
    "board": ("/benchmarks/meal/tracks/blind/board/", EVERYBODY),
    "overview": ("/benchmarks/meal/tracks/blind/", EVERYBODY),
    "benchmark_board": ("/benchmarks/meal/board/", EVERYBODY),
    "all_benchmarks": ("/benchmarks/", EVERYBODY),
    "new_benchmark": ("/benchmarks/new/", SIGNED_IN),
    "benchmark_home": ("/benchmarks/meal/", EVERYBODY),
    "benchmark_manage": ("/benchmarks/meal/manage/", ORGANISERS),
    "benchmark_section": ("/benchmarks/meal/manage/section/words/", ORGANISERS),
    "benchmark_dates": ("/benchmarks/meal/desk/deadlines/", ORGANISERS),
    "new_benchmark_track": ("/benchmarks/meal/manage/tracks/new/", ORGANISERS),
    "registration": ("/benchmarks/meal/manage/registration/", ORGANISERS),
    # Nobody wrote one here.
    "agreement_text": ("/benchmarks/meal/agreement/", NOBODY),
    "register_team": ("/benchmarks/meal/register/", [401, 302, 200, 200, 302, 302, 302, 302]),
    "questions": ("/benchmarks/meal/questions/", EVERYBODY),
    "question": ("/benchmarks/meal/questions/{question}/", ORGANISERS),
    "messages": ("/benchmarks/meal/manage/messages/", ORGANISERS),
    # Written to Ben.
    "message": (
        "/benchmarks/meal/messages/{message}/",
        [401, 404, 200, 404, 404, 200, 200, 200],
    ),
    "invitations": ("/benchmarks/meal/manage/invitations/", ORGANISERS),
    "unsubscribe": ("/unsubscribe/not-signed/", NOBODY),
    "copy_benchmark": ("/benchmarks/meal/manage/next-year/", MAY_CREATE),
    "delete_benchmark": ("/benchmarks/meal/manage/delete/", ORGANISERS),
    "benchmark_archive": ("/benchmarks/meal/manage/archive.zip", ORGANISERS),
    "benchmark_submit": ("/benchmarks/meal/submit/", SIGNED_IN),
    "benchmark_systems": ("/benchmarks/meal/systems/", EVERYBODY),
    "benchmark_system": ("/benchmarks/meal/systems/{system}/", EVERYBODY),
    "system_facts": (
        "/benchmarks/meal/systems/{system}/facts/",
        [401, 403, 200, 403, 403, 200, 200, 200],
    ),
    "benchmark_history": ("/benchmarks/meal/history/", EVERYBODY),
    "benchmark_differences": ("/benchmarks/meal/differences/", EVERYBODY),
    "reported_board": ("/benchmarks/meal/reported/", EVERYBODY),
    "reported_results": ("/benchmarks/meal/manage/reported/", ORGANISERS),
    "benchmark_compare": ("/benchmarks/meal/compare/", EVERYBODY),
    "new_collections": ("/benchmarks/meal/new-collections/", EVERYBODY),
    "benchmark_series": ("/benchmarks/meal/by-date/", EVERYBODY),
    "benchmark_snapshots": ("/benchmarks/meal/snapshots/", EVERYBODY),
    # It was frozen with a track that is blind now.
    "benchmark_snapshot": ("/benchmarks/meal/snapshots/final/", OPENED),
    # Cat judges documents of one of its tracks.
    "benchmark_badge": ("/benchmarks/meal/badge.svg", [200, 404, *[200] * 6]),
    "benchmark_badge_by_code": ("/benchmark-badges/code-of-meal.svg", EVERYBODY),
    "data": ("/benchmarks/meal/tracks/blind/data/", EVERYBODY),
    "baseline_file": ("/benchmarks/meal/tracks/blind/data/baseline.run", NOBODY),
    "pack": ("/benchmarks/meal/tracks/blind/pack.zip?team=ben", ORGANISERS_404),
    "everything": ("/benchmarks/meal/tracks/blind/everything.zip", OPENED),
    "archive": ("/benchmarks/meal/tracks/blind/manage/archive.zip", ORGANISERS),
    "pages_copy": ("/benchmarks/meal/tracks/open/manage/copy/", ORGANISERS),
    "anonymous_release": ("/benchmarks/meal/tracks/blind/manage/anonymous.zip", ORGANISERS),
    "aliases": ("/benchmarks/meal/tracks/blind/manage/aliases.csv", ORGANISERS),
    "pages_copy_file": ("/benchmarks/meal/tracks/open/manage/copy.zip", ORGANISERS),
    "topics": ("/benchmarks/meal/tracks/blind/topics/", EVERYBODY),
    "judged_topics_file": ("/benchmarks/meal/tracks/blind/topics/judged.txt", NOBODY),
    "topic": ("/benchmarks/meal/tracks/blind/topic/?number=1", EVERYBODY),
    "track_document": ("/benchmarks/meal/tracks/blind/document/?docno=d1&number=1", EVERYBODY),
    "judgments": ("/benchmarks/meal/tracks/blind/judgments/", EVERYBODY),
    "nuggets": ("/benchmarks/meal/tracks/blind/nuggets/", EVERYBODY),
    # Its runs are no judgments; see test_judges_page.py.
    "judges": ("/benchmarks/meal/tracks/blind/judges/", NOBODY),
    "judges_boards": ("/benchmarks/meal/tracks/blind/judges/boards/", NOBODY),
    "battle_board": ("/benchmarks/meal/tracks/blind/battles/", OPENED),
    "battle": ("/benchmarks/meal/tracks/blind/battles/vote/", ORGANISERS_404),
    "battle_settings": ("/benchmarks/meal/tracks/blind/battles/settings/", ORGANISERS),
    "votes_file": ("/benchmarks/meal/tracks/blind/battles/votes.jsonl", ORGANISERS),
    "join_battles": ("/battles/join/code-of-blind/", EVERYBODY),
    "nugget": ("/benchmarks/meal/tracks/blind/nugget/?number=1&key=1-1", OPENED),
    "nuggets_file": ("/benchmarks/meal/tracks/blind/nuggets/v1/nuggets.nuggetizer", OPENED),
    "nugget_draft": ("/benchmarks/meal/tracks/blind/nugget-draft/", ORGANISERS),
    "nugget_draft_topic": (
        "/benchmarks/meal/tracks/blind/nugget-draft/topic/?number=1",
        ORGANISERS,
    ),
    "layer_file": ("/benchmarks/meal/tracks/blind/marks/v1/marks.txt", OPENED),
    "layer_results": ("/benchmarks/meal/tracks/blind/marks/v1/argue.jsonl", OPENED),
    "layer_replies": ("/benchmarks/meal/tracks/blind/marks/gpt/replies/", OPENED),
    "layer_impact": ("/benchmarks/meal/tracks/blind/marks/v1/impact/", ORGANISERS),
    # There is no second version to compare with.
    "nugget_changes": (
        "/benchmarks/meal/tracks/blind/nuggets/v1/changes/",
        [401, 403, 403, 403, 403, 404, 404, 404],
    ),
    "compare": (
        "/benchmarks/meal/tracks/blind/compare/?a={run}&b={other}",
        OPENED,
    ),
    "significance": ("/benchmarks/meal/tracks/blind/significance/", OPENED),
    "cost": ("/benchmarks/meal/tracks/blind/cost/", OPENED),
    "parameters": ("/benchmarks/meal/tracks/blind/parameters/", OPENED),
    "plan": ("/benchmarks/meal/tracks/blind/plan/", OPENED),
    "reusability": ("/benchmarks/meal/tracks/blind/reusability/", OPENED),
    "measures_correlation": ("/benchmarks/meal/tracks/blind/measures/", OPENED),
    "topic_map": ("/benchmarks/meal/tracks/blind/topics/map/", OPENED),
    "topic_map_image": ("/benchmarks/meal/tracks/blind/topics/map.png", OPENED),
    "computed": ("/benchmarks/meal/tracks/blind/computed/?run={run}", OPENED),
    "statistic": ("/benchmarks/meal/tracks/blind/computed/spread/", OPENED),
    "submit": ("/benchmarks/meal/tracks/blind/submit/", SIGNED_IN),
    "my_runs": ("/benchmarks/meal/tracks/blind/runs/", SIGNED_IN),
    "team": ("/benchmarks/meal/tracks/blind/team/", [401, 404, 200, 200, 404, 404, 404, 404]),
    "join": ("/benchmarks/meal/join/", EVERYBODY),
    "people_and_machine": ("/benchmarks/meal/tracks/blind/people-and-machine/", OPENED),
    "judge_noise": ("/benchmarks/meal/tracks/blind/judge-noise/", ORGANISERS),
    "corrected_means": ("/benchmarks/meal/tracks/blind/corrected-means/", ORGANISERS),
    "impact": ("/benchmarks/meal/tracks/blind/judgments/v1/impact/", ORGANISERS),
    "qrels_file": ("/benchmarks/meal/tracks/blind/judgments/v1/qrels.txt", OPENED),
    "intents_file": ("/benchmarks/meal/tracks/blind/judgments/v1/intents.txt", OPENED),
    "snapshots": ("/benchmarks/meal/tracks/blind/snapshots/", OPENED),
    "snapshot": ("/benchmarks/meal/tracks/blind/snapshots/final/", OPENED),
    "pools": ("/benchmarks/meal/tracks/blind/pools/", ORGANISERS),
    "pool": ("/benchmarks/meal/tracks/blind/pools/pool-1/", ORGANISERS),
    "pool_file": ("/benchmarks/meal/tracks/blind/pools/pool-1/pool.txt", ORGANISERS),
    "plan_assessment": ("/benchmarks/meal/tracks/blind/pools/pool-2/judging/", ORGANISERS),
    "assessments": ("/benchmarks/meal/tracks/blind/judging/", ORGANISERS),
    "assessment": ("/benchmarks/meal/tracks/blind/judging/judging-1/", ORGANISERS),
    "assessors": ("/benchmarks/meal/tracks/blind/judging/judging-1/assessors/", ORGANISERS),
    "guideline": ("/benchmarks/meal/tracks/blind/judging/judging-1/guideline/", ORGANISERS),
    "disagreements": ("/benchmarks/meal/tracks/blind/judging/judging-1/disagreements/", ORGANISERS),
    "assessment_marks": ("/benchmarks/meal/tracks/blind/judging/judging-1/marks/", ORGANISERS),
    "assessment_agreement": (
        "/benchmarks/meal/tracks/blind/judging/judging-1/agreement/",
        ORGANISERS,
    ),
    "versions_agreement": ("/collections/bread/agreement/", ORGANISERS_404),
    "import_answers": ("/collections/bread/machine/", ORGANISERS_404),
    "fill_unjudged": ("/collections/bread/fill-unjudged/", ORGANISERS_404),
    "version_prompts": ("/collections/bread/judgments/v1/prompts.jsonl", ORGANISERS_404),
    "pool_prompts": ("/benchmarks/meal/tracks/blind/pools/pool-2/prompts.jsonl", ORGANISERS),
    "assessment_prompts": (
        "/benchmarks/meal/tracks/blind/judging/judging-1/prompts.jsonl",
        ORGANISERS,
    ),
    "machine_card": ("/collections/bread/judgments/v2/machine/", OPENED),
    "machine_replies": ("/collections/bread/judgments/v1/machine/replies/", NOT_JUDGING),
    "import_mark_files": (
        "/benchmarks/meal/tracks/blind/judging/judging-1/marks/import/",
        ORGANISERS,
    ),
    "marks_file": ("/benchmarks/meal/tracks/blind/judging/judging-1/marks/marks.jsonl", ORGANISERS),
    "assessment_settings": (
        "/benchmarks/meal/tracks/blind/judging/judging-1/settings/",
        ORGANISERS,
    ),
    "close_assessment": ("/benchmarks/meal/tracks/blind/judging/judging-1/close/", ORGANISERS),
    "my_judging": ("/judging/", SIGNED_IN),
    "judging_progress": ("/judging/progress.csv", SIGNED_IN),
    "join_judging": ("/judging/join/code-of-judging/", EVERYBODY),
    "before_topic": ("/judging/{assignment}/before/", ASSESSOR),
    "judge": ("/judging/{assignment}/?tab=a", ASSESSOR_ACT),
    "topic_end": ("/judging/{assignment}/end/", ASSESSOR),
    "manage_overview": ("/benchmarks/meal/tracks/blind/manage/overview/", ORGANISERS),
    "delete_track": (
        "/benchmarks/meal/tracks/blind/manage/delete/",
        [401, 403, 403, 403, 403, 404, 404, 404],
    ),
    "setup": ("/benchmarks/meal/tracks/blind/setup/", ORGANISERS),
    "people": ("/benchmarks/meal/manage/people/", ORGANISERS),
    "merge_teams": ("/benchmarks/meal/manage/people/merge/", ORGANISERS),
    "webhooks": ("/benchmarks/meal/tracks/blind/manage/webhooks/", ORGANISERS),
    "history": ("/benchmarks/meal/tracks/blind/history/", OPENED),
    "badge": ("/benchmarks/meal/tracks/blind/badge.svg", NOBODY),
    "badge_by_code": ("/badges/code-of-blind.svg", NOBODY),
    "feed": ("/benchmarks/meal/tracks/blind/feed.xml", NOBODY),
    "desk": ("/benchmarks/meal/tracks/blind/desk/", ORGANISERS),
    "deadlines": ("/benchmarks/meal/tracks/blind/desk/deadlines/", ORGANISERS),
    "trail": ("/benchmarks/meal/tracks/blind/desk/trail/", ORGANISERS),
    "findings": ("/benchmarks/meal/tracks/blind/desk/findings/", ORGANISERS),
    "manage": ("/benchmarks/meal/tracks/blind/manage/", ORGANISERS),
    "manage_section": ("/benchmarks/meal/tracks/blind/manage/section/scores/", ORGANISERS),
    "organised_runs": ("/benchmarks/meal/tracks/blind/manage/runs/", ORGANISERS),
    "refused_runs": ("/benchmarks/meal/tracks/blind/manage/refused/", ORGANISERS),
    "release": ("/benchmarks/meal/tracks/blind/manage/release/", ORGANISERS),
    "new_track": ("/collections/bread/tracks/new/", ORGANISERS_404),
    "run": ("/runs/{run}/", OWN_TEAM),
    "run_state": ("/runs/{run}/state/", OWN_TEAM),
    "ranking": ("/runs/{run}/ranking/?number=1", OWN_TEAM),
    "ranking_file": ("/runs/{run}/ranking.run", OWN_TEAM),
    "answer": ("/runs/{run}/answer/?number=1", OWN_TEAM),
    "run_file": ("/runs/{run}/file/", OWN_TEAM),
    "run_problems": ("/runs/{run}/problems/", OWN_TEAM),
    "run_topics_csv": ("/runs/{run}/topics.csv", OPENED),
    "run_topics": ("/runs/{run}/topics/", OPENED),
    "run_failures": ("/runs/{run}/failures/", OPENED),
    "run_details": ("/runs/{run}/file-and-facts/", OWN_TEAM),
    "run_facts": ("/runs/{run}/facts/", [401, 404, 200, 404, 404, 200, 200, 200]),
    "run_metadata": ("/runs/{run}/metadata.yml", OWN_TEAM),
    "withdraw": ("/runs/{run}/withdraw/", [401, 404, 200, 404, 404, 200, 200, 200]),
    "take_off": ("/runs/{run}/take-off/", [401, 404, 403, 404, 404, 200, 200, 200]),
    "sent_runs": ("/runs/", SIGNED_IN),
    "collections": ("/collections/", EVERYBODY),
    "new_collection": ("/collections/new/", [401, 403, 403, 403, 200, 200, 403, 200]),
    "collection": ("/collections/bread/", EVERYBODY),
    "collection_words": ("/collections/bread/words/", ORGANISERS_404),
    "collection_state": ("/collections/bread/state/", EVERYBODY),
    "changed_judgments": (
        "/collections/bread/judgments/v2/changes.csv",
        ORGANISERS_404,
    ),
    "topics_file": ("/collections/bread/topics.txt", EVERYBODY),
    "docnos_file": ("/collections/bread/docnos.txt", EVERYBODY),
    "topics_download": ("/collections/bread/topics.trec", EVERYBODY),
    "sample_run": ("/collections/bread/sample.run", EVERYBODY),
    "documents": ("/collections/bread/documents/", EVERYBODY),
    "documents_file": ("/collections/bread/documents.file", OPENED),
    "document": ("/collections/bread/document/?docno=d1", EVERYBODY),
    "account_data": ("/account/data.json", SIGNED_IN),
    "delete_account": ("/account/delete/", SIGNED_IN),
    "measures": ("/measures/", EVERYBODY),
    "limits": ("/limits/", EVERYBODY),
    "api": ("/api/", EVERYBODY),
    "search": ("/search/?q=bread", EVERYBODY),
    "notices": ("/account/notices/", SIGNED_IN),
    "account": ("/account/", SIGNED_IN),
    "healthz": ("/healthz", EVERYBODY),
    "metrics": ("/metrics", NOBODY),
}


@dataclass(frozen=True)
class Act:
    """A form with what is sent in it; what has several lines goes as a file."""

    address: str
    statuses: list[int]
    form: dict[str, Any] = field(default_factory=dict)


TRACK = {
    "name": "Loaves",
    "measures": "AP",
    "relevance_threshold": 1,
    "depth": 1000,
    "attempts_per_day": 20,
    "convention": "house",
    "test": "sign_flip",
    "disclosure": "blind",
    "visibility": "public",
    "joining": "everyone",
    "selection": "all",
    "late_runs": "refuse",
    "run_formats": ["trec"],
    "missing_topics": "warn",
    "unknown_documents": "refuse",
    "duplicates": "refuse",
    "repeated_tags": "warn",
    "zone": "UTC",
}
WEBHOOK = {"url": "https://192.0.32.8/called", "happenings": ["run.scored"], "format": "json"}
JUDGMENTS = {"version": "v3", "file": QRELS}
NUGGETS = {"version": "v3", "file": "{}\n"}
MARKS = {"version": "v3", "file": "oak\n", "about": "support", "made_by": "people"}
ANSWERS = {"version": "v3", "file": QRELS, "model": "GPT-4o", "prompt": "Grade it."}
ASSESSMENT = {
    "seed": 1,
    "overlap": "none",
    "overlap_size": 1,
    "topics_per_assessor": 8,
    "order": "random",
    "rule": "first",
}
GUIDELINE = {"num_grades": 3, "text": "Read.", "name_2": "C", "name_1": "B", "name_0": "A"}
ACTS = {
    "join": Act("/benchmarks/meal/join/", JOIN_ACT, {"team_name": "Crumbs"}),
    "submit": Act(
        "/benchmarks/meal/tracks/blind/submit/",
        [401, 403, 302, 302, 302, 302, 302, 302],
        {"file": RUN.replace("d9", "d11"), "kind": "automatic"},
    ),
    "change_team": Act(
        "/benchmarks/meal/tracks/blind/team/change/",
        [401, 404, 302, 302, 404, 404, 404, 404],
        {"act": "leave"},
    ),
    "renew_team_link": Act(
        "/benchmarks/meal/tracks/blind/team/link/", [401, 404, 302, 302, 404, 404, 404, 404]
    ),
    "manage": Act(
        "/benchmarks/meal/tracks/blind/manage/", ACT, {"slug": "blind", **TRACK, "confirmed": "1"}
    ),
    "manage_section": Act("/benchmarks/meal/tracks/blind/manage/section/scores/", ACT, TRACK),
    "make_baseline": Act("/benchmarks/meal/tracks/blind/setup/baseline/", ACT),
    "delete_account": Act("/account/delete/", [401, *[422] * 7], {"name": "x"}),
    "delete_track": Act(
        "/benchmarks/meal/tracks/blind/manage/delete/",
        [401, 403, 403, 403, 403, 404, 404, 404],
        {"name": "x"},
    ),
    "open_track": Act("/benchmarks/meal/tracks/blind/setup/open/", ACT),
    "manage_overview": Act(
        "/benchmarks/meal/tracks/blind/manage/overview/", ACT, {"description": "Bread."}
    ),
    "choose_baseline": Act(
        "/benchmarks/meal/tracks/blind/manage/baseline/", ACT, {"baseline": "{run}"}
    ),
    "release": Act("/benchmarks/meal/tracks/blind/manage/release/", ACT),
    "pages_copy": Act("/benchmarks/meal/tracks/blind/manage/copy/", ACT),
    "undo_change": Act("/benchmarks/meal/tracks/blind/manage/undo/0/", ACT),
    "try_judgments": Act("/benchmarks/meal/tracks/blind/judgments/v1/try/", ACT),
    "switch_judgments": Act("/benchmarks/meal/tracks/blind/judgments/v1/switch/", ACT),
    "draw_sample": Act("/benchmarks/meal/tracks/blind/judgments/v1/sample/", ACT),
    "judged_by_people": Act("/benchmarks/meal/tracks/blind/judgments/v1/people/", ACT),
    "webhooks": Act("/benchmarks/meal/tracks/blind/manage/webhooks/", ACT, WEBHOOK),
    "change_badge": Act("/benchmarks/meal/tracks/blind/manage/badge/", ACT),
    "change_benchmark_badge": Act("/benchmarks/meal/manage/badge/", ACT),
    "new_benchmark": Act("/benchmarks/new/", [401, *[422] * 7], {"name": "Supper"}),
    "benchmark_manage": Act("/benchmarks/meal/manage/", ACT, {"sent": "nothing"}),
    "benchmark_section": Act("/benchmarks/meal/manage/section/words/", ACT, {"name": "Meal"}),
    "place_tracks": Act(
        "/benchmarks/meal/manage/tracks/", ACT, {"blind-position": 2, "open-position": 1}
    ),
    "new_benchmark_track": Act(
        "/benchmarks/meal/manage/tracks/new/",
        [401, 403, 403, 403, 403, 422, 422, 422],
        {"name": "Third", "collection": "0"},
    ),
    "add_benchmark_track": Act(
        "/benchmarks/meal/manage/tracks/add/",
        [401, 403, 403, 403, 403, 422, 422, 422],
        {"track": "0"},
    ),
    "remove_benchmark_track": Act("/benchmarks/meal/manage/tracks/open/remove/", ACT),
    "reported_results": Act(
        "/benchmarks/meal/manage/reported/", ACT, {"source": "others", "file": "{}\n"}
    ),
    **{
        f"{act}_results_of_benchmark": Act(f"/benchmarks/meal/manage/reported/v1/{act}/", ACT)
        for act in ("confirm", "again", "discard")
    },
    "renew_invitation": Act("/benchmarks/meal/manage/invitation/", ACT),
    "decide_request": Act("/benchmarks/meal/manage/requests/{asked}/", ACT, {"approve": "Eve"}),
    "registration": Act("/benchmarks/meal/manage/registration/", ACT, {"asked": "country"}),
    "write_agreement": Act(
        "/benchmarks/meal/manage/registration/agreement/", ACT, {"text": "Do not pass it on."}
    ),
    "approve_teams": Act("/benchmarks/meal/manage/registration/approve/", ACT, {"chosen": "1"}),
    "register_team": Act("/benchmarks/meal/register/", SIGNED_IN_ACT, {"person": "Ben Ode"}),
    "questions": Act("/benchmarks/meal/questions/", SIGNED_IN_ACT, {"text": "How deep?"}),
    "answer_question": Act(
        "/benchmarks/meal/questions/{question}/answer/", ACT, {"text": "100 documents."}
    ),
    "messages": Act(
        "/benchmarks/meal/manage/messages/",
        ACT,
        {"groups": "teams", "subject": "Soon", "text": "Soon.", "act": "send"},
    ),
    "switch_reminders": Act("/benchmarks/meal/manage/messages/reminders/", ACT),
    # Without an email server nobody is invited.
    "invitations": Act(
        "/benchmarks/meal/manage/invitations/",
        [401, 403, 403, 403, 403, 422, 422, 422],
        {"addresses": "gil@example.org", "role": "team"},
    ),
    "withdraw_invitation": Act("/benchmarks/meal/manage/invitations/{invitation}/withdraw/", ACT),
    "unsubscribe": Act("/unsubscribe/not-signed/", NOBODY),
    "copy_benchmark": Act("/benchmarks/meal/manage/next-year/", CREATE_ACT, {"name": "Meal again"}),
    "delete_benchmark": Act("/benchmarks/meal/manage/delete/", ACT, {"name": "Meal"}),
    "freeze_benchmark": Act("/benchmarks/meal/manage/freeze/", ACT, {"name": "As published"}),
    "benchmark_submit": Act(
        "/benchmarks/meal/submit/",
        [401, 403, 200, 200, 200, 200, 200, 200],
        {"folder": "1 Q0 d1 1 1 x\n", "paths": "blind/x", "name": "stove", "kind": "automatic"},
    ),
    "change_system": Act(
        "/benchmarks/meal/systems/{system}/change/", SYSTEM_ACT, {"name": "stove"}
    ),
    "withdraw_version": Act(
        "/benchmarks/meal/systems/{system}/withdraw/",
        SYSTEM_ACT,
        {"version": "{version}", "reason": "a slip"},
    ),
    "system_facts": Act("/benchmarks/meal/systems/{system}/facts/", SYSTEM_ACT, {"kind": "manual"}),
    "add_run": Act(
        "/benchmarks/meal/systems/{system}/add-run/",
        [401, 403, 422, 403, 403, 422, 422, 422],
        {"run": "{other}", "version": "{version}"},
    ),
    "people": Act("/benchmarks/meal/manage/people/", ACT, {"name": "ben"}),
    "merge_teams": Act(
        "/benchmarks/meal/manage/people/merge/",
        ACT,
        {"kept": "{team}", "team": "{other_team}"},
    ),
    "remove_organiser": Act("/benchmarks/meal/manage/people/{kim}/remove/", ACT),
    "remove_webhook": Act("/benchmarks/meal/tracks/blind/manage/webhooks/{webhook}/remove/", ACT),
    "switch_on_webhook": Act("/benchmarks/meal/tracks/blind/manage/webhooks/{webhook}/on/", ACT),
    "change_chosen_runs": Act(
        "/benchmarks/meal/tracks/blind/manage/runs/act/", ACT, {"run": "{run}", "act": "restore"}
    ),
    "announce": Act("/benchmarks/meal/tracks/blind/desk/announce/", ACT, {"text": "Runs are in."}),
    "grant": Act(
        "/benchmarks/meal/tracks/blind/desk/grant/",
        ACT,
        {"team": "{team}", "runs": 1, "today": "today"},
    ),
    "deadlines": Act("/benchmarks/meal/tracks/blind/desk/deadlines/", ACT, {"end": "{team}"}),
    "call_again": Act("/benchmarks/meal/tracks/blind/desk/calls/{webhook}/again/", ACT),
    "score_all_again": Act("/benchmarks/meal/tracks/blind/desk/scores/again/", ACT),
    "try_job_again": Act("/benchmarks/meal/tracks/blind/desk/jobs/1/again/", ACT),
    "freeze": Act("/benchmarks/meal/tracks/blind/manage/freeze/", ACT, {"name": "As published"}),
    "pools": Act(
        "/benchmarks/meal/tracks/blind/pools/",
        ACT,
        {"runs": ["{run}", "{other}"], "method": "depth", "size": 2},
    ),
    "keep_pool": Act("/benchmarks/meal/tracks/blind/pools/pool-1/keep/", ACT),
    "discard_pool": Act("/benchmarks/meal/tracks/blind/pools/pool-1/discard/", ACT),
    "judge_pool": Act("/benchmarks/meal/tracks/blind/pools/pool-2/judgments/", ACT, JUDGMENTS),
    "plan_assessment": Act(
        "/benchmarks/meal/tracks/blind/pools/pool-2/judging/", ACT, {**ASSESSMENT, **GUIDELINE}
    ),
    "join_judging": Act("/judging/join/code-of-judging/", [401, 302, 200, 200, 302, 302, 302, 302]),
    "before_topic": Act("/judging/{assignment}/before/", ASSESSOR_ACT, {"start": "yes"}),
    "marks": Act("/judging/{assignment}/marks/", ASSESSOR_ACT, {"tab": "a", "grade": 1}),
    "topic_notes": Act("/judging/{assignment}/notes/", ASSESSOR_ACT, {"notes": "Ovens."}),
    "topic_end": Act("/judging/{assignment}/end/", ASSESSOR_ACT),
    "open_assessment": Act("/benchmarks/meal/tracks/blind/judging/judging-1/open/", ACT),
    "pause_assessment": Act("/benchmarks/meal/tracks/blind/judging/judging-1/pause/", ACT),
    "resume_assessment": Act("/benchmarks/meal/tracks/blind/judging/judging-1/resume/", ACT),
    "assessors": Act("/benchmarks/meal/tracks/blind/judging/judging-1/assessors/", ACT),
    "remove_assessor": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/assessors/{assessor}/remove/", ACT
    ),
    "reassign": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/assignments/{assignment}/",
        ACT,
        {"to": "A2"},
    ),
    "end_topic": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/assignments/{assignment}/end/", ACT
    ),
    "second_round": Act("/benchmarks/meal/tracks/blind/judging/judging-1/second-round/", ACT),
    "guideline": Act("/benchmarks/meal/tracks/blind/judging/judging-1/guideline/", ACT, GUIDELINE),
    "add_practice": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/guideline/practice/",
        ACT,
        {"topic": "2", "docno": "d2", "grade": 1},
    ),
    "remove_practice": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/guideline/practice/{practice}/remove/", ACT
    ),
    "disagreements": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/disagreements/",
        ACT,
        {"topic": "1", "docno": "d9", "grade": 1},
    ),
    "ask_third": Act("/benchmarks/meal/tracks/blind/judging/judging-1/third-opinions/", ACT),
    "import_mark_files": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/marks/import/",
        ACT,
        {"files": "1 mia d9 1\n"},
    ),
    "assessment_settings": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/settings/", ACT, ASSESSMENT
    ),
    "try_assessment": Act("/benchmarks/meal/tracks/blind/judging/judging-1/try/", ACT),
    "close_assessment": Act(
        "/benchmarks/meal/tracks/blind/judging/judging-1/close/",
        ACT,
        {"version": "v7", "is_early": "on"},
    ),
    "battle": Act("/benchmarks/meal/tracks/blind/battles/vote/", ACT_404, {"choice": "undo"}),
    "battle_settings": Act(
        "/benchmarks/meal/tracks/blind/battles/settings/",
        ACT,
        {"question": "Which?", "voters": "invited", "drawing": "random"},
    ),
    "import_votes": Act("/benchmarks/meal/tracks/blind/battles/import/", ACT, {"file": VOTE}),
    "join_battles": Act("/battles/join/code-of-blind/", SIGNED_IN_ACT),
    "new_nuggets": Act("/benchmarks/meal/tracks/blind/nuggets/new/", ACT, NUGGETS),
    # There is a draft already.
    "begin_nugget_draft": Act(
        "/benchmarks/meal/tracks/blind/nugget-draft/begin/",
        [401, 403, 403, 403, 403, 422, 422, 422],
    ),
    "write_nugget": Act(
        "/benchmarks/meal/tracks/blind/nugget-draft/write/?number=1",
        ACT,
        {"act": "propose", "text": "Salt slows it.", "importance": "okay"},
    ),
    "freeze_nugget_draft": Act(
        "/benchmarks/meal/tracks/blind/nugget-draft/freeze/", ACT, {"version": "v3"}
    ),
    "discard_nugget_draft": Act("/benchmarks/meal/tracks/blind/nugget-draft/discard/", ACT),
    "new_marks": Act("/benchmarks/meal/tracks/blind/marks/new/", ACT, MARKS),
    "use_layer": Act("/benchmarks/meal/tracks/blind/marks/v1/use/", ACT),
    "try_layer": Act("/benchmarks/meal/tracks/blind/marks/v1/try/", ACT),
    "carry_marks": Act("/benchmarks/meal/tracks/blind/nuggets/v1/carry/", ACT, {"layer": "v1"}),
    **{
        f"{act}_{noun}_of_track": Act(f"/benchmarks/meal/tracks/blind/{noun}/v2/{act}/", ACT)
        for noun in ("nuggets", "marks")
        for act in ("confirm", "again", "discard")
    },
    "score_again": Act("/runs/{run}/again/", OWN_ACT),
    "repair": Act("/runs/{run}/repair/", OWN_ACT),
    "withdraw": Act("/runs/{run}/withdraw/", OWN_ACT, {"reason": "a slip"}),
    "undo_withdrawal": Act("/runs/{run}/withdraw/undo/", OWN_ACT),
    "run_facts": Act("/runs/{run}/facts/", OWN_ACT, {"kind": "manual"}),
    "take_off": Act(
        "/runs/{run}/take-off/",
        [401, 404, 403, 404, 404, 302, 302, 302],
        {"how": "hidden", "reason": "a doubt"},
    ),
    "bring_back": Act("/runs/{run}/bring-back/", [401, 404, 403, 404, 404, 302, 302, 302]),
    "collection_words": Act("/collections/bread/words/", ACT_404, {"name": "Bread"}),
    "new_collection": Act(
        "/collections/new/",
        [401, 403, 403, 403, 302, 302, 403, 302],
        {"name": "Oats", "topics": TOPICS},
    ),
    "new_track": Act("/collections/bread/tracks/new/", ACT_404, TRACK),
    "new_board": Act("/collections/bread/tracks/new/internal/", ACT_404),
    "confirm_collection": Act("/collections/bread/confirm/", ACT_404),
    "check_again": Act("/collections/bread/again/", ACT_404),
    "discard_collection": Act("/collections/bread/discard/", ACT_404),
    "new_judgments": Act("/collections/bread/judgments/", ACT_404, JUDGMENTS),
    "import_answers": Act("/collections/bread/machine/", ACT_404, ANSWERS),
    "fill_unjudged": Act(
        "/collections/bread/fill-unjudged/", ACT_404, {"people": "v1", "machine": "gpt"}
    ),
    "confirm_judgments": Act("/collections/bread/judgments/v2/confirm/", ACT_404),
    "check_judgments_again": Act("/collections/bread/judgments/v2/again/", ACT_404),
    "discard_judgments": Act("/collections/bread/judgments/v2/discard/", ACT_404),
    "notices": Act("/account/notices/", SIGNED_IN_ACT),
    "account": Act("/account/", SIGNED_IN, {"name": "scripts", "scopes": ["read"], "days": 90}),
    "change_profile": Act("/account/profile/", SIGNED_IN_ACT, {"display_name": "A baker"}),
    "change_mails": Act("/account/mails/", SIGNED_IN_ACT),
    "revoke_tokens": Act("/account/tokens/revoke/", SIGNED_IN_ACT),
    "revoke_token": Act(
        "/account/tokens/{token}/revoke/", [401, 404, 302, 404, 404, 404, 404, 404]
    ),
}
# On an open track every reader opens scores, topics and rankings; files stay with their team.
OPEN_PAGES = {
    "history": ("/benchmarks/meal/tracks/open/history/", EVERYBODY),
    "badge": ("/benchmarks/meal/tracks/open/badge.svg", EVERYBODY),
    "badge_by_code": ("/badges/code-of-open.svg", EVERYBODY),
    "feed": ("/benchmarks/meal/tracks/open/feed.xml", EVERYBODY),
    "run": ("/runs/{open_run}/", EVERYBODY),
    "run_topics_csv": ("/runs/{open_run}/topics.csv", EVERYBODY),
    "run_topics": ("/runs/{open_run}/topics/", EVERYBODY),
    "run_failures": ("/runs/{open_run}/failures/", EVERYBODY),
    "run_details": ("/runs/{open_run}/file-and-facts/", EVERYBODY),
    "track_document": ("/benchmarks/meal/tracks/open/document/?docno=d1&number=1", EVERYBODY),
    "ranking": ("/runs/{open_run}/ranking/?number=1", EVERYBODY),
    "ranking_file": ("/runs/{open_run}/ranking.run", OWN_TEAM),
    "answer": ("/runs/{open_run}/answer/?number=1", EVERYBODY),
    "nuggets": ("/benchmarks/meal/tracks/open/nuggets/", EVERYBODY),
    "judges": ("/benchmarks/meal/tracks/open/judges/", NOBODY),
    "judges_boards": ("/benchmarks/meal/tracks/open/judges/boards/", NOBODY),
    "battle_board": ("/benchmarks/meal/tracks/open/battles/", EVERYBODY),
    "battle": ("/benchmarks/meal/tracks/open/battles/vote/", SIGNED_IN),
    "nugget": ("/benchmarks/meal/tracks/open/nugget/?number=1&key=1-1", EVERYBODY),
    "nuggets_file": ("/benchmarks/meal/tracks/open/nuggets/v1/nuggets.nuggetizer", EVERYBODY),
    "layer_file": ("/benchmarks/meal/tracks/open/marks/v1/marks.txt", EVERYBODY),
    "layer_results": ("/benchmarks/meal/tracks/open/marks/v1/argue.jsonl", EVERYBODY),
    "layer_replies": ("/benchmarks/meal/tracks/open/marks/gpt/replies/", EVERYBODY),
    "compare": ("/benchmarks/meal/tracks/open/compare/?a={open_run}&b={open_other}", EVERYBODY),
    "topic": ("/benchmarks/meal/tracks/open/topic/?number=1", EVERYBODY),
    "judged_topics_file": ("/benchmarks/meal/tracks/open/topics/judged.txt", EVERYBODY),
    "computed": ("/benchmarks/meal/tracks/open/computed/?run={open_run}", EVERYBODY),
    "statistic": ("/benchmarks/meal/tracks/open/computed/spread/", EVERYBODY),
    "cost": ("/benchmarks/meal/tracks/open/cost/", EVERYBODY),
    "parameters": ("/benchmarks/meal/tracks/open/parameters/", EVERYBODY),
    "people_and_machine": ("/benchmarks/meal/tracks/open/people-and-machine/", EVERYBODY),
    "plan": ("/benchmarks/meal/tracks/open/plan/", EVERYBODY),
    "reusability": ("/benchmarks/meal/tracks/open/reusability/", EVERYBODY),
    "run_metadata": ("/runs/{open_run}/metadata.yml", EVERYBODY),
    "run_file": ("/runs/{open_run}/file/", OWN_TEAM),
    "run_problems": ("/runs/{open_run}/problems/", OWN_TEAM),
    "qrels_file": ("/benchmarks/meal/tracks/open/judgments/v1/qrels.txt", EVERYBODY),
    "intents_file": ("/benchmarks/meal/tracks/open/judgments/v1/intents.txt", EVERYBODY),
}

# On a leaderboard of means what is behind them opens after the deadline.
LEADERBOARD_PAGES = {
    "board": ("/benchmarks/lead/board/", EVERYBODY),
    "run": ("/runs/{lead_run}/", EVERYBODY),
    "computed": ("/benchmarks/lead/computed/?run={lead_run}", EVERYBODY),
    "statistic": ("/benchmarks/lead/computed/spread/", OPENED),
    "run_topics_csv": ("/runs/{lead_run}/topics.csv", OPENED),
    "run_topics": ("/runs/{lead_run}/topics/", OPENED),
    "run_failures": ("/runs/{lead_run}/failures/", OPENED),
    "run_details": ("/runs/{lead_run}/file-and-facts/", EVERYBODY),
    "ranking": ("/runs/{lead_run}/ranking/?number=1", OWN_TEAM),
    "answer": ("/runs/{lead_run}/answer/?number=1", OWN_TEAM),
    "nuggets": ("/benchmarks/lead/nuggets/", EVERYBODY),
    "judges": ("/benchmarks/lead/judges/", NOBODY),
    "judges_boards": ("/benchmarks/lead/judges/boards/", NOBODY),
    "battle_board": ("/benchmarks/lead/battles/", OPENED),
    "battle": ("/benchmarks/lead/battles/vote/", ORGANISERS_404),
    "nugget": ("/benchmarks/lead/nugget/?number=1&key=1-1", OPENED),
    "nuggets_file": ("/benchmarks/lead/nuggets/v1/nuggets.nuggetizer", OPENED),
    "layer_file": ("/benchmarks/lead/marks/v1/marks.txt", OPENED),
    "layer_results": ("/benchmarks/lead/marks/v1/argue.jsonl", OPENED),
    "layer_replies": ("/benchmarks/lead/marks/gpt/replies/", OPENED),
    "compare": ("/benchmarks/lead/compare/?a={lead_run}&b={lead_other}", OPENED),
    "significance": ("/benchmarks/lead/significance/", OPENED),
    "cost": ("/benchmarks/lead/cost/", OPENED),
    "parameters": ("/benchmarks/lead/parameters/", OPENED),
    "plan": ("/benchmarks/lead/plan/", OPENED),
    "reusability": ("/benchmarks/lead/reusability/", OPENED),
    "measures_correlation": ("/benchmarks/lead/measures/", OPENED),
    "topic_map": ("/benchmarks/lead/topics/map/", OPENED),
    "snapshots": ("/benchmarks/lead/snapshots/", OPENED),
    "history": ("/benchmarks/lead/history/", OPENED),
    "badge": ("/benchmarks/lead/badge.svg", NOBODY),
    "badge_by_code": ("/badges/code-of-lead.svg", NOBODY),
    "feed": ("/benchmarks/lead/feed.xml", EVERYBODY),
    "everything": ("/benchmarks/lead/everything.zip", OPENED),
    "run_metadata": ("/runs/{lead_run}/metadata.yml", OWN_TEAM),
    "topics": ("/benchmarks/lead/topics/", EVERYBODY),
    "judged_topics_file": ("/benchmarks/lead/topics/judged.txt", NOBODY),
    "judgments": ("/benchmarks/lead/judgments/", EVERYBODY),
    "qrels_file": ("/benchmarks/lead/judgments/v1/qrels.txt", OPENED),
    "intents_file": ("/benchmarks/lead/judgments/v1/intents.txt", OPENED),
}


@pytest.fixture(scope="module")
def scene_of_all(module_files, django_db_blocker):
    """The clients and names of `scene`, made once for the module."""
    with made_once(django_db_blocker, module_files):
        return make_scene()


@pytest.fixture
def scene(db, scene_of_all, module_files, settings):
    """Clients by role as they were when the scene was made, and ids by name."""
    copy_files(module_files, settings)
    clients, names = scene_of_all
    return {role: copy_of(client) for role, client in clients.items()}, names


def copy_of(client: Client) -> Client:
    other = Client()
    other.cookies.load(client.cookies.output(header="", sep=";"))
    return other


def make_benchmark_of_runs(*tracks: Track) -> dict[str, Any]:
    """A benchmark of these tracks with a system of every run, as one team of the benchmark."""
    benchmark = join_tracks(tracks, slug="meal", name="Meal", badge_code="code-of-meal")
    team = tracks[0].runs.earliest("received_at").team
    system = System.objects.create(benchmark=benchmark, team=team, name="oven")
    version = SystemVersion.objects.create(system=system, label="1", created_by=benchmark.owner)
    for track in tracks:
        run = track.runs.earliest("received_at")
        Run.objects.filter(pk=run.pk).update(version=version)
    editions = Edition.objects.filter(pk__in=benchmark.tracks.in_order().values("edition"))
    # Without judgments there is no board to freeze.
    if editions:
        frozen = benchmark.snapshots.create(
            **{"slug": "final", "name": "final", "created_by": benchmark.owner},
            **{"heads": [{"title": "System", "detail": "", "is_words": True}], "files": {}},
            **{"rows": [[version.pk, "oven 1"]], "caption": "All tracks."},
        )
        frozen.editions.set(editions)
    make_reported(benchmark)
    make_results_file(benchmark)
    question = benchmark.questions.create(text="How deep?", is_public=True)
    written = {"subject": "Soon", "text": "Soon.", "created_by": benchmark.owner}
    message = benchmark.messages.create(**written)
    Notice.objects.create(user=version.runs.first().submitted_by, track=tracks[0], message=message)
    invitation = benchmark.invitations.create(email="fay@example.org", invited_by=benchmark.owner)
    return {
        **{"system": system.pk, "version": version.pk, "question": question.pk},
        **{"message": message.pk, "invitation": invitation.pk},
    }


def make_scene() -> tuple[dict[str, Client], dict[str, Any]]:
    """Tracks with a run of Ben's and one of Dan's on each; clients by role, ids by name.

    All of them share their judgments, which the blind one and the leaderboard do not show yet.
    """
    ada, eve = (make_user(name, can_organise=True) for name in ("ada", "eve"))
    ben = make_user("ben")
    people = {
        "cat": make_user("cat"),
        "ben": ben,
        "dan": make_user("dan"),
        "eve": eve,
        "ada": ada,
        "kim": make_user("kim"),
        "sue": make_user("sue", is_staff=True),
    }
    collection = make_collection(ada)
    blind_track = make_track(collection, slug="blind", disclosure="blind")
    open_track = make_track(collection, slug="open")
    lead = make_track(collection, slug="lead", disclosure="leaderboard")
    for each in (collection, blind_track.benchmark, open_track.benchmark, lead.benchmark):
        each.co_organisers.add(people["kim"])
    for each in Track.objects.all():
        shared = {"badge_code": f"code-of-{each.slug}", "shares_judgments": True}
        Track.objects.filter(pk=each.pk).update(**shared)
    judged = collection.judgment_sets.get(version="v1")
    judged.intents.create(topic=collection.topics.first(), subtopic="1", probability=1)
    stored = default_storage.save("collections/intents", ContentFile(b"1 1 1\n"))
    JudgmentSet.objects.filter(pk=judged.pk).update(num_intents=1, intents_file=stored)
    token, _ = ApiToken.objects.issue(ben, ["read"])
    second = {"version": "v2", "state": "preview", "created_by": ada, "file": "none"}
    changes = default_storage.save("changes", ContentFile(b"topic,docno"))
    third = {"version": "gpt", "state": "ready", "made_by": "machine", "grade_counts": {"1": 1}}
    file = default_storage.save("collections/gpt", ContentFile(b"1 0 d9 1\n"))
    gpt = JudgmentSet.objects.create(collection=collection, created_by=ada, file=file, **third)
    gpt.judgments.create(topic=collection.topics.first(), docno="d9", grade=1)
    machines = JudgmentSet.objects.create(collection=collection, changes=changes, **second)
    MachineCard.objects.create(judgment_set=machines, model="GPT-4o", prompt="Grade it.")
    names = {
        "run": make_run(blind_track, ben).pk,
        "other": make_run(blind_track, people["dan"], OTHER_RUN).pk,
        "lead_run": make_run(lead, ben).pk,
        "lead_other": make_run(lead, people["dan"], OTHER_RUN).pk,
        "open_run": make_run(open_track, ben).pk,
        "open_other": make_run(open_track, people["dan"], OTHER_RUN).pk,
        "token": token.pk,
        "kim": people["kim"].pk,
        "team": blind_track.team_of(ben).pk,
        "other_team": blind_track.team_of(people["dan"]).pk,
        "asked": blind_track.benchmark.join_requests.create(user=eve, team_name="Eve").pk,
        "webhook": blind_track.webhooks.create(url="https://example.org", created_by=ada).pk,
    }
    Run.objects.update(answer_file=store_an_answer())
    for _ in range(2):
        pools.create_pool(blind_track, ada, list(blind_track.runs.all()), "depth", 2)
        work()
    pools.approve_pool(blind_track.pools.get(name="pool-2"), ada)
    ask_for_copy(open_track, "http://testserver")
    work()
    names |= judge_a_pool(blind_track, ada, people["cat"])
    snapshots.freeze_board(find_board(sight_of(Track.objects.get(slug="blind"), ada)), ada, "final")
    for each in (blind_track, open_track, lead):
        store_nuggets(each)
        store_replies(each)
        code = f"code-of-{each.slug}"
        Battles.objects.create(track=each, voters="signed in", invitation=code)
    names |= make_benchmark_of_runs(blind_track, open_track)
    clients = {role: signed_in(person) for role, person in people.items()}
    return {"anonymous": Client(), **clients}, names


def judge_a_pool(track: Track, ada: User, cat: User) -> dict[str, Any]:
    """Cat and Gus differ on all documents of a third pool; the keys of what Cat has."""
    pool = make_pool(track, ada, list(track.runs.all()), size=10)
    assessment = make_assessment(pool, ada, cat, make_user("gus"), overlap="all", overlap_size=3)
    Assessment.objects.update(invitation="code-of-judging")
    for name, grade in (("A1", 0), ("A2", 2)):
        judge_everything(assessment, lambda document, grade=grade: grade, only=name)
    practice = assessment.practice_documents.create(
        topic=track.collection.topics.first(), docno="d1", grade=2
    )
    return {
        "assessor": assessment.assessors.first().pk,
        "assignment": Assignment.objects.filter(assessor__user=cat).first().pk,
        "practice": practice.pk,
    }


def opened(scene, address: str, roles: Sequence[str] = ROLES) -> dict[str, int]:
    return {role: answer_to(scene, role, address, "get") for role in roles}


def acted(scene, act: Act, roles: Sequence[str] = ROLES) -> dict[str, int]:
    return {role: answer_to(scene, role, act.address, "post", act.form) for role in roles}


def answer_to(scene, role: str, address: str, method: str, form: dict | None = None) -> int:
    """The status for a role; each is tried on the same state of the database."""
    clients, names = scene
    with transaction.atomic():
        send, sent = getattr(clients[role], method), filled(form or {}, names)
        answer = send(address.format(**names), sent)
        transaction.set_rollback(True)
    assert_guarded(answer)
    return status_of(answer)


def filled(form: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    return {name: field_of(value, names) for name, value in form.items()}


def field_of(value: Any, names: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [field_of(each, names) for each in value]
    if isinstance(value, str) and "\n" in value:
        return upload("file.txt", value)
    return value.format(**names) if isinstance(value, str) else value


def status_of(response: HttpResponse) -> int:
    to_the_login = response.headers.get("Location", "").startswith("/account/login/")
    return 401 if to_the_login else response.status_code


def by_role(statuses: list[int]) -> dict[str, int]:
    return dict(zip(ROLES, statuses, strict=True))


@pytest.mark.parametrize("row", PAGES.values(), ids=list(PAGES))
def test_a_page_of_a_blind_track(scene, row):
    address, expected = row
    assert opened(scene, address) == by_role(expected)


@pytest.mark.parametrize("act", ACTS.values(), ids=list(ACTS))
def test_an_act(scene, act):
    assert acted(scene, act) == by_role(act.statuses)


@pytest.mark.parametrize("row", LEADERBOARD_PAGES.values(), ids=list(LEADERBOARD_PAGES))
def test_a_page_of_a_leaderboard(scene, row):
    address, expected = row
    assert opened(scene, address) == by_role(expected)


@pytest.mark.parametrize("row", OPEN_PAGES.values(), ids=list(OPEN_PAGES))
def test_a_page_of_an_open_track(scene, row):
    address, expected = row
    assert opened(scene, address) == by_role(expected)


@pytest.mark.parametrize("address", ["meal/tracks/blind", "lead", "meal/tracks/open"])
def test_judgments_that_are_not_shared_are_for_organisers(scene, address):
    Track.objects.update(shares_judgments=False)
    assert opened(scene, f"/benchmarks/{address}/judgments/v1/qrels.txt") == by_role(OPENED)


# Who does not see a track of members, by who may join it.
OUTSIDE = {
    "invitation": ("anonymous", "cat", "eve"),
    "approval": ("anonymous", "cat", "eve"),
    "everyone": ("anonymous",),
}
# The badge and the feed are read by programs, so they are there only where everybody may read them.
TOLD_TO_ALL = ("badge", "feed")
# Ben, Dan and the organisers are in already, and nobody else is let in without the link.
JOINED_BY_LINK = [401, 404, 422, 422, 404, 422, 422, 422]


@dataclass(frozen=True)
class Members:
    """How they join, and the roles of which is asked what they see."""

    joining: str
    roles: Sequence[str] = ROLES

    def expect(self, name: str, statuses: list[int]) -> dict[str, int]:
        """What a row becomes where only members see the track: to all others there is none."""
        seen = NOBODY if name in TOLD_TO_ALL else statuses
        outside = {role: 404 for role in OUTSIDE[self.joining]}
        # Who is not signed in is led to sign in, and may have been invited.
        if statuses[0] == 401 or name == "join":
            outside["anonymous"] = 401
        expected = by_role(seen) | outside
        return {role: expected[role] for role in self.roles}


# What is seen by those who are in is what they see of an open track: by day every page is opened by
# those who are not, and by Ben.
WAYS_IN = [
    pytest.param(Members("invitation", (*OUTSIDE["invitation"], "ben")), id="invitation"),
    pytest.param(Members("invitation"), id="invitation-by-night", marks=pytest.mark.night),
    pytest.param(Members("everyone"), id="everyone-by-night", marks=pytest.mark.night),
    pytest.param(Members("approval"), id="approval", marks=pytest.mark.night),
]


@pytest.fixture(params=WAYS_IN)
def members(scene, request) -> Members:
    """Every track is seen by its members alone."""
    Track.objects.update(visibility="members")
    Benchmark.objects.update(joining=request.param.joining)
    return request.param


def of_tracks(address: str) -> bool:
    """Whether what stands there belongs to a track, or to a collection that shows by tracks."""
    return address.startswith(
        ("/benchmarks/meal/tracks/", "/benchmarks/lead/", "/runs/{", "/collections/bread/")
    )


def test_a_page_of_members_is_not_there_for_others(scene, members):
    rows = [*PAGES.items(), *OPEN_PAGES.items(), *LEADERBOARD_PAGES.items()]
    for name, (address, statuses) in rows:
        if of_tracks(address):
            expected = members.expect(name, statuses)
            assert (address, opened(scene, address, members.roles)) == (address, expected)


def test_an_act_on_a_track_of_members_is_not_there_for_others(scene, members):
    for name, act in ACTS.items():
        if of_tracks(act.address):
            by_link = (name, members.joining) == ("join", "invitation")
            expected = members.expect(name, JOINED_BY_LINK if by_link else act.statuses)
            assert (name, acted(scene, act, members.roles)) == (name, expected)


def test_no_list_tells_others_of_a_track_of_members(scene, members):
    for address in ("/", "/search/?q=bread", "/collections/", "/api/v1/tracks"):
        for role in ROLES:
            shown = scene[0][role].get(address).content.decode()
            seen = any(
                name in shown
                for name in (
                    "/benchmarks/meal/tracks/blind/board/",
                    "/collections/bread/",
                    '"blind"',
                )
            )
            is_inside = role not in OUTSIDE[members.joining]
            assert (address, role, seen) == (address, role, is_inside)


def test_an_act_is_never_done_by_a_link(scene):
    clients, names = scene
    for name, act in ACTS.items():
        status = clients["ada"].get(act.address.format(**names)).status_code
        # Ada has no team that could register, so she is led to joining.
        assert (name, status) in [(name, 200), (name, 404), (name, 405), ("register_team", 302)]


def test_a_files_address_is_no_way_in(scene):
    clients, _ = scene
    for address in ("/media/../db.sqlite3", "/media/%2e%2e%2fdb.sqlite3", "/files/runs/", "/var/"):
        assert clients["ben"].get(address).status_code == 404


def test_the_judgments_are_nowhere_for_participants(scene):
    clients, _ = scene
    name = JudgmentSet.objects.get(version="v1").file.name
    for address in (f"/{name}", f"/media/{name}", f"/static/{name}", f"/files/{name}"):
        assert clients["ben"].get(address, follow=True).status_code in (404, 405)


def leaves(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from leaves(pattern.url_patterns)
        else:
            yield pattern


def under(beginning: str) -> list[URLResolver]:
    """What is included in the site there."""
    found = (each for each in get_resolver().url_patterns if isinstance(each, URLResolver))
    return [each for each in found if str(each.pattern).startswith(beginning)]


def test_every_address_has_a_row():
    # tests/pages/test_administration.py walks the pages of administrators.
    elsewhere = [*under("api/"), *under("account/"), *under("admin/")]
    own = [each for each in get_resolver().url_patterns if each not in elsewhere]
    assert {each.name for each in leaves(own) if each.name} == set(PAGES) | set(ACTS)


# Leads on whatever is asked, and does nothing.
WAYS_ON: set[str] = set()


def test_every_way_to_ask_of_an_address_has_a_row(scene):
    """An address without a row for a method answers that it does not take it."""
    clients, names = scene
    addresses = {name: address for name, (address, _) in PAGES.items()}
    addresses |= {name: act.address for name, act in ACTS.items()}
    rows = {("get", name) for name in PAGES} | {("post", name) for name in ACTS}
    for name in set(addresses) - WAYS_ON:
        for method in ("get", "post", "put", "patch", "delete"):
            if (method, name) not in rows:
                answer = getattr(clients["sue"], method)(addresses[name].format(**names))
                assert (name, method, answer.status_code) == (name, method, 405)


# What the library that keeps accounts shows to somebody who has not signed in.
BEFORE_SIGNING_IN = {
    *("account_login", "account_logout", "account_signup", "account_inactive"),
    *("account_email_verification_sent", "account_confirm_email", "account_reset_password"),
    *("account_reset_password_done", "account_reset_password_from_key"),
    "account_reset_password_from_key_done",
    # These are not found without a provider.
    *("single_sign_on", "single_sign_on_answer", "proxy_sign_in", "signed_out_of_proxy"),
}


@pytest.mark.parametrize("method", ["get", "post"])
def test_what_belongs_to_an_account_asks_to_sign_in(db, client, method):
    for pattern in leaves(under("account/")):
        parts = dict.fromkeys(pattern.pattern.regex.groupindex, "a")
        answer = getattr(client, method)(reverse(pattern.name, kwargs=parts))
        signs_in = pattern.name not in BEFORE_SIGNING_IN
        assert (pattern.name, status_of(answer) == 401) == (pattern.name, signs_in)
