"""What organisers say about a track, and how others come to take part in it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import snapshots, tracks
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import AuditEvent, Benchmark, Notice, Team, Track
from leaderboard.models.track_settings import setting_fields
from leaderboard.pages.forms.track_sections import SECTIONS, list_sections
from leaderboard.pages.forms.tracks import RULES, SETTINGS
from tests.builders import OTHER_RUN, make_run, make_track, work

NEW = "/collections/bread/tracks/new/"
MANAGE = "/benchmarks/bread/manage/"
DATES = "/benchmarks/bread/manage/section/dates/"
JUDGMENTS = "/benchmarks/bread/manage/section/judgments/"
PEOPLE = "/benchmarks/bread/manage/section/people/"
SCORES = "/benchmarks/bread/manage/section/scores/"


def form_of(page) -> dict:
    """What a browser would send back of the form on a page."""
    form = page.context.get("dates_form", page.context["form"])
    fields = {name: printed(form[name]) for name in form.fields}
    return {name: value for name, value in fields.items() if value not in (None, "", False)}


def printed(field) -> object:
    value = field.value()
    return field.field.widget.format_value(value) if isinstance(value, datetime) else value


def test_the_form_proposes_a_track_that_works(collection, as_ada):
    page = as_ada.get(NEW)
    assertContains(page, "AP, nDCG@10, P@10, RR, R@1000")
    as_ada.post(NEW, form_of(page))
    track = Track.objects.get()
    assert (track.slug, track.primary_measure, track.disclosure) == ("bread", "AP", "open")


def test_the_form_leads_to_the_dates_in_its_fold(collection, as_ada):
    page = as_ada.get(NEW)
    assertContains(page, '<a href="#field-opens_at">Scores, judging and dates</a>')
    assertContains(page, 'id="field-opens_at"', count=1)


def test_a_new_track_is_scored_on_the_judgments_of_its_collection(collection, as_ada):
    page = as_ada.post(NEW, form_of(as_ada.get(NEW)))
    assert page["Location"] == "/benchmarks/bread/setup/"
    assert Track.objects.get().judgment_set.version == "v1"


def test_an_internal_board_takes_one_click(collection, as_ada, client):
    assertContains(as_ada.get("/collections/bread/"), "Open an internal board")
    page = as_ada.post("/collections/bread/tracks/new/internal/")
    assert page["Location"] == "/benchmarks/bread/board/"
    assert client.get("/benchmarks/bread/board/").status_code == 404


def test_every_user_is_in_an_internal_board_without_a_team(collection, as_ada, as_ben, ben):
    as_ada.post("/collections/bread/tracks/new/internal/")
    work()
    assertContains(as_ben.get("/"), "/benchmarks/bread/board/")
    make_run(Track.objects.get(), ben)
    assertContains(as_ben.get("/benchmarks/bread/board/"), "ben-bm25")


def test_a_second_internal_board_has_an_address_of_its_own(collection, as_ada):
    for _ in range(2):
        as_ada.post("/collections/bread/tracks/new/internal/")
    assert {track.slug for track in Track.objects.all()} == {"bread", "bread-2"}


def test_an_unknown_measure_is_said_at_its_field_and_nothing_is_lost(collection, as_ada):
    sent = {**form_of(as_ada.get(NEW)), "name": "Loaves", "measures": "AP, Sharpness@3"}
    page = as_ada.post(NEW, sent)
    assertContains(page, 'id="id_measures_error"', status_code=422)
    assertContains(page, 'value="Loaves"', status_code=422)


def test_the_ranking_measure_joins_the_measures(collection, as_ada):
    sent = {**form_of(as_ada.get(NEW)), "measures": "AP, P@5", "primary_measure": "RR"}
    as_ada.post(NEW, sent)
    assert Track.objects.get().measures == ["RR", "AP", "P@5"]


def test_dates_are_placed_in_the_zone_that_was_said(collection, as_ada):
    sent = {"closes_at": "2026-11-30T23:59", "zone": "Anywhere on Earth"}
    as_ada.post(NEW, {**form_of(as_ada.get(NEW)), **sent})
    assert Track.objects.get().closes_at == datetime(2026, 12, 1, 11, 59, tzinfo=UTC)


@pytest.mark.parametrize("name", [setting.name for setting in setting_fields(Track)])
def test_the_form_asks_for_every_setting(collection, as_ada, name):
    assertContains(as_ada.get(NEW), f'name="{name}"')


def test_each_setting_is_in_one_section():
    shown = [name for section in SECTIONS.values() for name in section.names]
    assert sorted(shown) == sorted({*SETTINGS, *RULES, "slug", "public_share", "zone"})


def test_every_section_is_saved_as_it_is_shown(track, as_ada):
    for section in list_sections(track):
        address = f"{MANAGE}section/{section.name}/"
        assertContains(as_ada.get(address), section.title)
        if section.rows:
            assert as_ada.post(address, form_of(as_ada.get(address))).status_code == 302
    assert not AuditEvent.objects.filter(act="change").exists()


def test_a_section_changes_nothing_of_another(track, as_ada):
    Track.objects.update(drop_empty_topics=True, pseudonyms=True)
    as_ada.post(SCORES, form_of(as_ada.get(SCORES)) | {"measures": "P@5", "depth": "3"})
    track = Track.objects.get()
    assert (track.measures[-1], track.depth) == ("P@5", 1000)
    assert track.drop_empty_topics and track.pseudonyms


def test_a_section_says_who_saved_it_last(track, as_ada):
    as_ada.post(PEOPLE, form_of(as_ada.get(PEOPLE)) | {"joining": "approval"})
    assertContains(as_ada.get(PEOPLE), "Last saved by <bdi>ada</bdi>")
    assertNotContains(as_ada.get(SCORES), "Last saved by")


def test_there_is_no_section_of_another_name_or_kind(track, as_ada):
    for name in ("nothing", "answers"):
        assert as_ada.get(f"{MANAGE}section/{name}/").status_code == 404


def test_a_grade_beyond_the_highest_is_no_threshold(collection, as_ada):
    sent = {**form_of(as_ada.get(NEW)), "relevance_threshold": 128}
    assertContains(as_ada.post(NEW, sent), "Use 127 or less.", status_code=422)


def test_the_formats_of_runs_are_chosen(collection, as_ada):
    as_ada.post(NEW, {**form_of(as_ada.get(NEW)), "run_formats": ["trec", "msmarco"]})
    assert Track.objects.get().run_formats == ["trec", "msmarco"]
    assertContains(as_ada.get("/benchmarks/bread/"), "MS MARCO (topic docno rank)")


def test_a_new_track_proposes_the_quota_and_the_attempts_of_the_site(collection, as_ada, settings):
    settings.ATTEMPTS_PER_DAY, settings.RUNS_PER_DAY = 7, 4
    as_ada.post(NEW, form_of(as_ada.get(NEW)))
    assert (Track.objects.get().attempts_per_day, Track.objects.get().quota_per_day) == (7, 4)


def test_an_organiser_may_leave_the_quota_of_a_day_empty(collection, as_ada):
    as_ada.post(NEW, {**form_of(as_ada.get(NEW)), "quota_per_day": ""})
    assert Track.objects.get().quota_per_day is None


def test_a_track_does_not_close_before_it_opens(collection, as_ada):
    dates = {"opens_at": "2026-11-30T12:00", "closes_at": "2026-11-30T11:00"}
    page = as_ada.post(NEW, {**form_of(as_ada.get(NEW)), **dates})
    assertContains(page, "Must be after the opening time.", status_code=422)


def test_a_release_is_planned_after_the_deadline(collection, as_ada):
    dates = {"closes_at": "2026-11-30T12:00", "release_at": "2026-11-29T12:00"}
    page = as_ada.post(NEW, {**form_of(as_ada.get(NEW)), **dates})
    assertContains(page, "on or after the closing time", status_code=422)


def test_a_planned_release_stands_on_the_track_until_it_is_done(blind_track, ada, client):
    in_a_week = timezone.now() + timedelta(days=7, minutes=1)
    tracks.change_track(blind_track, ada, {"release_at": in_a_week})
    assertContains(client.get("/benchmarks/blind/board/"), "in 7 days", count=1)
    tracks.release_track(blind_track, ada)
    assertNotContains(client.get("/benchmarks/blind/board/"), "planned for")


def test_an_open_track_has_nothing_to_release(track, as_ada):
    page = as_ada.get("/benchmarks/bread/manage/release/")
    assertContains(page, "There is nothing to release")
    assertNotContains(page, "permanently")
    as_ada.post("/benchmarks/bread/manage/release/")
    assert Track.objects.get().released_at is None


def test_nothing_is_released_by_the_date_alone(blind_track, ada, ben, client):
    run = make_run(blind_track, ben)
    tracks.change_track(blind_track, ada, {"release_at": timezone.now() - timedelta(days=1)})
    assert client.get(f"/runs/{run.pk}/").status_code == 404


def test_a_stranger_opens_no_track(collection, as_cat, client):
    assert as_cat.get(NEW).status_code == 404
    assert as_cat.post(NEW, {"name": "Mine"}).status_code == 404
    assert client.get(NEW).status_code == 302


def test_only_organisers_manage(track, as_ada, as_ben, client):
    assert as_ada.get(MANAGE).status_code == 200
    assert as_ben.get(MANAGE).status_code == 403
    assert as_ben.post(MANAGE, {"name": "Mine"}).status_code == 403
    assert client.get(MANAGE).status_code == 302


def test_a_change_is_saved_and_written_down(track, as_ada):
    as_ada.post(MANAGE, {**form_of(as_ada.get(MANAGE)), "name": "Rolls", "confirmed": "1"})
    assert Track.objects.get().name == "Rolls"
    event = AuditEvent.objects.get(act="change")
    assert event.before["name"] == "Bread track"
    assert event.after["name"] == "Rolls"


def test_a_refused_change_leaves_the_page_as_the_track_is(track, as_ada):
    sent = {**form_of(as_ada.get(MANAGE)), "name": "Rolls", "slug": "new"}
    page = as_ada.post(MANAGE, sent)
    assertContains(page, "<h1><bdi>Bread track</bdi>", status_code=422)
    assertContains(page, 'value="Rolls"', status_code=422)


def test_the_baseline_is_one_of_the_ranked_runs(track, ben, as_ada):
    run = make_run(track, ben)
    assertContains(as_ada.get(JUDGMENTS), f'<option value="{run.pk}">ben-bm25</option>')
    as_ada.post(f"{MANAGE}baseline/", {"baseline": run.pk})
    assert Track.objects.get().baseline == run


def test_a_run_of_another_track_is_no_baseline(track, collection, ben, as_ada):
    other = make_run(make_track(collection, slug="rye"), ben)
    as_ada.post(f"{MANAGE}baseline/", {"baseline": other.pk})
    assert Track.objects.get(slug="bread").baseline is None


def test_before_a_release_stands_what_it_shows_to_whom(blind_track, ben, cat, as_ada):
    make_run(blind_track, ben)
    make_run(blind_track, cat, OTHER_RUN)
    page = as_ada.get("/benchmarks/blind/manage/release/")
    for words in ("everyone, signed in or not", "2 runs of 2 teams", "3 topics"):
        assertContains(page, words)
    assert not Track.objects.get().released_at


def test_before_a_release_stand_the_snapshots_and_words_it_shows(blind_track, ada, ben, as_ada):
    run = make_run(blind_track, ben, description="BM25, tuned on last year")
    blind_track.refresh_from_db()
    snapshots.freeze_board(find_board(sight_of(blind_track, ada)), ada, "final")
    page = as_ada.get("/benchmarks/blind/manage/release/")
    assertContains(
        page, "1 frozen board, with all runs on it, including runs since removed from the board"
    )
    assertContains(page, "run descriptions and facts given by teams")
    as_ada.post("/benchmarks/blind/manage/release/")
    assertContains(Client().get("/benchmarks/blind/snapshots/final/"), "ben-bm25")
    assertContains(Client().get(f"/runs/{run.pk}/"), "BM25, tuned on last year")


@pytest.mark.parametrize("disclosure", ["open", "leaderboard"])
def test_runs_of_a_blind_track_are_shown_by_no_setting(blind_track, ben, as_ada, disclosure):
    make_run(blind_track, ben)
    manage = "/benchmarks/blind/manage/section/scores/"
    answer = as_ada.post(manage, form_of(as_ada.get(manage)) | {"disclosure": disclosure})
    assert answer.status_code == 422 and not Track.objects.get().shows_means
    assertContains(answer, "/benchmarks/blind/manage/release/ shows who will see what.", 1, 422)


def test_a_blind_track_without_a_run_may_still_be_opened(blind_track, as_ada):
    manage = "/benchmarks/blind/manage/section/scores/"
    sent = form_of(as_ada.get(manage)) | {"disclosure": "open", "confirmed": "1"}
    as_ada.post(manage, sent)
    assert Track.objects.get().disclosure == "open"


def test_a_track_with_runs_may_still_become_blind(track, ben, as_ada):
    make_run(track, ben)
    as_ada.post(SCORES, form_of(as_ada.get(SCORES)) | {"disclosure": "blind"})
    assert Track.objects.get().disclosure == "blind"


def test_a_release_is_asked_for_only_while_a_track_is_blind(track, blind_track, as_ada):
    blind = "/benchmarks/blind/manage/section/scores/"
    assertNotContains(as_ada.get(SCORES), "/manage/release/")
    assertContains(as_ada.get(blind), "/benchmarks/blind/manage/release/")
    as_ada.post("/benchmarks/blind/manage/release/")
    assertNotContains(as_ada.get(blind), "/manage/release/")


def test_the_page_says_who_did_what(track, as_ada):
    page = as_ada.get("/benchmarks/bread/desk/")
    assertContains(page, "<bdi>ada</bdi></b> opened the track")
    assertContains(page, "/benchmarks/bread/desk/trail/")


def test_a_baseline_is_not_chosen_by_a_link(track, as_ada):
    assert as_ada.get(f"{MANAGE}baseline/").status_code == 405


def test_the_invitation_link_leads_in(collection, as_ada, as_cat):
    track = make_track(collection, visibility="members", joining="invitation")
    link = f"/benchmarks/bread/join/?invitation={track.benchmark.invitation}"
    assertContains(as_ada.get(f"{MANAGE}people/"), f"http://testserver{link}")
    assert as_cat.post(link, {"team_name": "Cats"})["Location"] == "/benchmarks/bread/submit/"
    assert Team.objects.get(name="Cats").memberships.get().user.username == "cat"


@pytest.mark.parametrize("invitation", ["", "guess", "ü"])
def test_without_the_link_a_track_for_members_is_not_there(collection, as_cat, invitation):
    make_track(collection, visibility="members", joining="invitation")
    page = as_cat.get("/benchmarks/bread/join/", {"invitation": invitation})
    assert page.status_code == 404


def test_a_public_track_says_that_it_is_by_invitation(collection, as_cat):
    make_track(collection, joining="invitation")
    assertContains(as_cat.get("/benchmarks/bread/join/"), "Invitation only")
    page = as_cat.post("/benchmarks/bread/join/", {"team_name": "Cats"})
    assert page.status_code == 422 and not Team.objects.exists()


def test_without_a_name_the_team_has_the_users(track, as_cat):
    assertContains(as_cat.get("/benchmarks/bread/join/"), "Team name")
    as_cat.post("/benchmarks/bread/join/", {"team_name": " "})
    assert Team.objects.get().name == "cat"


@pytest.mark.parametrize("name", ["organisers", "ＯＲＧＡＮＩＳＥＲＳ", "a\u202eb", "Ben"])
def test_a_name_that_could_mislead_is_refused(track, ben, as_cat, name):
    make_run(track, ben)
    page = as_cat.post("/benchmarks/bread/join/", {"team_name": name})
    assertContains(page, 'id="id_team_name_error"', status_code=422)


def test_whoever_takes_part_is_told_the_team(track, ben, as_ben):
    make_run(track, ben)
    assertContains(as_ben.get("/benchmarks/bread/join/"), "You are in <bdi>ben</bdi>")


def test_the_page_about_a_track_has_its_rules(collection, client):
    make_track(collection, quota_per_day=5, depth=100, unknown_documents="drop")
    page = client.get("/benchmarks/bread/")
    assertContains(page, "<b>AP</b>, <b>nDCG@10</b> and <b>P@5</b>")
    assertContains(page, "<dt>Per topic</dt><dd>up to 100 documents</dd>")
    assertContains(page, "<dt>Unknown documents</dt><dd>ignored</dd>")


def test_a_description_is_markdown_without_html(collection, client):
    make_track(collection, description="<img src=x onerror=alert(1)>\nA *second* line.")
    page = client.get("/benchmarks/bread/")
    assertContains(page, "&lt;img src=x onerror=alert(1)&gt;<br>")
    assertContains(page, "A <em>second</em> line.")


def test_about_a_blind_track_says_nothing_of_judgments(blind_track, as_ben):
    page = as_ben.get("/benchmarks/blind/")
    assertContains(page, "Until release, teams see only their own runs")
    assertNotContains(page, "<bdi>v1</bdi>")


def test_about_is_for_those_who_see_the_track(collection, as_cat):
    make_track(collection, visibility="members", joining="invitation")
    assert as_cat.get("/benchmarks/bread/").status_code == 404
    assert as_cat.post("/benchmarks/bread/").status_code == 405


def test_a_run_is_withdrawn_with_a_reason_by_its_own_team(track, ben, cat, as_ben, as_cat):
    run, other = make_run(track, ben), make_run(track, cat, OTHER_RUN)
    assertContains(as_ben.get(f"/runs/{run.pk}/withdraw/"), 'name="reason"')
    as_ben.post(f"/runs/{run.pk}/withdraw/", {"reason": "wrong file"})
    run.refresh_from_db()
    assert run.withdrawn_at and run.withdrawn_reason == "wrong file"
    assert as_ben.post(f"/runs/{other.pk}/withdraw/").status_code == 403


def test_a_withdrawal_is_asked_about_first(track, ben, as_ben):
    run = make_run(track, ben)
    as_ben.get(f"/runs/{run.pk}/withdraw/")
    run.refresh_from_db()
    assert run.withdrawn_at is None


def test_a_quota_of_no_runs_is_no_missing_limit(track, as_cat):
    Track.objects.update(quota_total=0)
    page = as_cat.get("/benchmarks/bread/")
    assertContains(page, "<dt>Runs per team per day</dt><dd>no limit</dd>")
    assertContains(page, "<dt>Runs per team in total</dt><dd>0</dd>")


LAST_SECOND = datetime(2030, 12, 1, 11, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("fraction", [0, 999_999])
def test_saving_the_page_moves_no_deadline(collection, ben, as_ada, fraction):
    closes = LAST_SECOND.replace(microsecond=fraction)
    make_run(make_track(collection, closes_at=closes), ben)
    page = as_ada.get(DATES)
    assertContains(page, 'value="2030-11-30T23:59:59"')
    as_ada.post(DATES, {**form_of(page), "grace_minutes": "5"})
    assert Track.objects.get().closes_at == closes
    assert not Notice.objects.filter(user=ben, text__contains="deadline").exists()
    assert AuditEvent.objects.get(act="change").after == {"grace_minutes": 5}


def test_a_deadline_is_printed_without_seconds_that_it_has_not(collection, as_ada):
    make_track(collection, closes_at=LAST_SECOND.replace(second=0))
    assertContains(as_ada.get(DATES), 'value="2030-11-30T23:59"')


def test_the_page_takes_seconds(track, as_ada):
    as_ada.post(DATES, {**form_of(as_ada.get(DATES)), "closes_at": "2030-11-30T23:59:59"})
    assert Track.objects.get().closes_at == LAST_SECOND


def test_saving_a_page_that_nobody_changed_leaves_no_trail(collection, as_ada):
    make_track(collection, closes_at=LAST_SECOND, opens_at=LAST_SECOND - timedelta(days=1))
    as_ada.post(DATES, form_of(as_ada.get(DATES)))
    assert not AuditEvent.objects.filter(act="change").exists()


def test_ends_of_line_as_browsers_send_them_are_no_change(track, as_ada):
    Track.objects.update(description="Loaves.\nRolls.")
    Benchmark.objects.update(terms="Bake.\nEat.")
    as_ada.post(MANAGE, form_of(as_ada.get(MANAGE)) | {"description": "Loaves.\r\nRolls."})
    as_ada.post(PEOPLE, form_of(as_ada.get(PEOPLE)) | {"terms": "Bake.\r\nEat."})
    assert not AuditEvent.objects.filter(act="change").exists()


@pytest.mark.parametrize(
    ("preset", "setting", "value"),
    [
        ("open", "disclosure", "open"),
        ("shared-task", "disclosure", "blind"),
        ("shared-task", "quota_total", 20),
        ("internal", "visibility", "members"),
        ("classroom", "joining", "invitation"),
        ("classroom", "pseudonyms", True),
    ],
)
def test_a_preset_fills_the_form(collection, as_ada, preset, setting, value):
    page = as_ada.post(NEW, {**form_of(as_ada.get(NEW)), "preset": preset})
    assert page.context["form"][setting].value() == value
    as_ada.post(NEW, {**form_of(page), "chosen": preset})
    track = Track.objects.get()
    assert getattr(track.benchmark if setting == "joining" else track, setting) == value


def test_another_preset_keeps_what_was_entered(collection, as_ada):
    entered = {**form_of(as_ada.get(NEW)), "name": "Loaves", "quota_total": "7"}
    page = as_ada.post(NEW, {**entered, "preset": "shared-task"})
    assertContains(page, 'value="Loaves"')
    assert str(page.context["form"]["quota_total"].value()) == "7"
    assert not Track.objects.exists()


def test_a_closed_group_says_its_values(collection, as_ada):
    page = as_ada.get(NEW + "?preset=shared-task")
    assertContains(page, "Hidden until release")
    assertContains(page, "20 runs per team in total; up to 1000 documents per topic")


def test_a_group_with_an_error_is_open(collection, as_ada):
    page = as_ada.post(NEW, {**form_of(as_ada.get(NEW)), "depth": "-1"})
    assertContains(page, "<details open><summary><b>Rules for runs</b>", status_code=422)


def test_another_zone_moves_the_deadline(collection, as_ada):
    make_track(collection, closes_at=LAST_SECOND)
    as_ada.post(DATES, {**form_of(as_ada.get(DATES)), "zone": "UTC"})
    assert Track.objects.get().closes_at == LAST_SECOND - timedelta(hours=12)


def test_a_deadline_in_the_past_closes_a_track_only_after_a_question(collection, as_ada):
    make_track(collection, closes_at="2036-01-01T00:00:00Z")
    sent = form_of(as_ada.get(DATES)) | {"closes_at": "2020-01-01T00:00"}
    page = as_ada.post(DATES, sent)
    assertContains(page, "This is in the past: the track closes at once.")
    assert Track.objects.get().state() == Track.State.OPEN
    as_ada.post(DATES, sent | {"confirmed": "1"})
    assert Track.objects.get().state() == Track.State.CLOSED


def test_a_deadline_names_the_runs_that_it_makes_late(track, ben, as_ada):
    make_run(track, ben)
    sent = form_of(as_ada.get(DATES)) | {"closes_at": "2020-01-01T00:00", "zone": "UTC"}
    assertContains(as_ada.post(DATES, sent), "Late by this deadline: ben-bm25 of ben.")
    assert Track.objects.get().closes_at is None


def test_a_deadline_that_opens_a_track_again_is_asked_about(collection, as_ada):
    make_track(collection, closes_at="2020-01-01T00:00:00Z")
    sent = form_of(as_ada.get(DATES)) | {"closes_at": "2036-01-01T00:00"}
    assertContains(as_ada.post(DATES, sent), "The track accepts runs again.")
    assert Track.objects.get().state() == Track.State.CLOSED
