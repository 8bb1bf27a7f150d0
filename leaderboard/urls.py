"""The site's table of contents.

Topic numbers and docnos are parameters, never part of a path: they may contain anything.
"""

from django.urls import include, path
from django.views.generic import RedirectView

from leaderboard.api import api
from leaderboard.views import (
    analysis,
    boards,
    collections,
    costs,
    facts,
    notices,
    packs,
    pairs,
    pools,
    rankings,
    runs,
    site,
    snapshots,
    takeoffs,
    teams,
    topics,
    tracks,
    versions,
)

track_urls = [
    path("", boards.board, name="board"),
    path("about/", tracks.about, name="about"),
    path("submit/", runs.submit, name="submit"),
    path("runs/", runs.my_runs, name="my_runs"),
    path("pack.zip", packs.pack, name="pack"),
    path("everything.zip", packs.everything, name="everything"),
    path("topics/", topics.topics, name="topics"),
    path("topics/map/", analysis.all_topics, name="topic_map"),
    path("topics/map.png", analysis.topic_map_image, name="topic_map_image"),
    path("topic/", topics.topic, name="topic"),
    path("significance/", analysis.significance, name="significance"),
    path("measures/", analysis.measures_agreement, name="measures_agreement"),
    path("cost/", costs.cost, name="cost"),
    path("compare/", pairs.compare, name="compare"),
    path("judgments/", boards.judgments, name="judgments"),
    path("judgments/<slug:version>/impact/", versions.impact, name="impact"),
    path("judgments/<slug:version>/try/", versions.try_judgments, name="try_judgments"),
    path("judgments/<slug:version>/switch/", versions.switch_judgments, name="switch_judgments"),
    path("computed/", boards.computed, name="computed"),
    path("join/", teams.join, name="join"),
    path("team/", teams.team, name="team"),
    path("team/change/", teams.change_team, name="change_team"),
    path("manage/requests/<int:request_id>/decide/", teams.decide_request, name="decide_request"),
    path("pools/", pools.pools, name="pools"),
    path("pools/<slug:name>/", pools.pool, name="pool"),
    path("pools/<slug:name>/keep/", pools.keep_pool, name="keep_pool"),
    path("pools/<slug:name>/discard/", pools.discard_pool, name="discard_pool"),
    path("pools/<slug:name>/judgments/", pools.judge_pool, name="judge_pool"),
    path("pools/<slug:name>/pool.<str:kind>", pools.pool_file, name="pool_file"),
    path("snapshots/", snapshots.snapshots, name="snapshots"),
    path("snapshots/<slug:name>/", snapshots.snapshot, name="snapshot"),
    path("manage/", tracks.manage, name="manage"),
    path("manage/webhooks/", notices.webhooks, name="webhooks"),
    path("manage/webhooks/<int:webhook_id>/remove/", notices.remove_webhook, name="remove_webhook"),
    path("manage/freeze/", snapshots.freeze, name="freeze"),
    path("manage/refused/", runs.refused_runs, name="refused_runs"),
    path("manage/baseline/", tracks.choose_baseline, name="choose_baseline"),
    path("manage/release/", tracks.release, name="release"),
]

run_urls = [
    path("", runs.run, name="run"),
    path("state/", runs.run_state, name="run_state"),
    path("ranking/", rankings.ranking, name="ranking"),
    path("file/", runs.run_file, name="run_file"),
    path("problems/", runs.run_problems, name="run_problems"),
    path("topics.csv", runs.run_topics_csv, name="run_topics_csv"),
    path("facts/", facts.run_facts, name="run_facts"),
    path("metadata.yml", facts.run_metadata, name="run_metadata"),
    path("withdraw/", runs.withdraw, name="withdraw"),
    path("take-off/", takeoffs.take_off, name="take_off"),
    path("bring-back/", takeoffs.bring_back, name="bring_back"),
    path("again/", runs.score_again, name="score_again"),
]

collection_urls = [
    path("", collections.collection, name="collection"),
    path("state/", collections.collection_state, name="collection_state"),
    path("confirm/", collections.confirm_collection, name="confirm_collection"),
    path("again/", collections.check_again, name="check_again"),
    path("discard/", collections.discard_collection, name="discard_collection"),
    path("document/", collections.document, name="document"),
    path("topics.txt", collections.topics_file, name="topics_file"),
    path("docnos.txt", collections.docnos_file, name="docnos_file"),
    path("judgments/", collections.new_judgments, name="new_judgments"),
    path(
        "judgments/<slug:version>/confirm/",
        collections.confirm_judgments,
        name="confirm_judgments",
    ),
    path(
        "judgments/<slug:version>/again/",
        collections.check_judgments_again,
        name="check_judgments_again",
    ),
    path(
        "judgments/<slug:version>/discard/",
        collections.discard_judgments,
        name="discard_judgments",
    ),
    path(
        "judgments/<slug:version>/changes.csv",
        collections.changed_judgments,
        name="changed_judgments",
    ),
    path("tracks/new/", tracks.new_track, name="new_track"),
]

urlpatterns = [
    path("", tracks.home, name="home"),
    path("tracks/", RedirectView.as_view(pattern_name="home"), name="tracks"),
    path("tracks/<slug:slug>/", include(track_urls)),
    path("runs/<slug:run_id>/", include(run_urls)),
    path("collections/", collections.collections, name="collections"),
    path("collections/new/", collections.new_collection, name="new_collection"),
    path("collections/<slug:slug>/", include(collection_urls)),
    path("measures/", site.measures, name="measures"),
    path("limits/", site.limits, name="limits"),
    path("search/", site.search, name="search"),
    path("account/", site.account, name="account"),
    path("account/notices/", notices.notices, name="notices"),
    path("account/tokens/<int:token_id>/revoke/", site.revoke_token, name="revoke_token"),
    path("account/", include("allauth.account.urls")),
    path("api/v1/", api.urls),
    path("healthz", site.healthz, name="healthz"),
]
