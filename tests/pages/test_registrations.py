"""Registration: what a team says and signs, who approves it, and which files it then may have."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.actions import people, registrations
from leaderboard.actions.benchmark_setup import remove_track
from leaderboard.actions.merged_teams import merge_teams
from leaderboard.actions.registrations import RegistrationDetails
from leaderboard.models import Benchmark, Collection, Download, Registration, Track
from tests.benchmark_scene import join_tracks
from tests.builders import make_track, make_user, signed_in

JOIN = "/benchmarks/bread/join/"
MANAGE = "/benchmarks/bread/manage/registration/"
TOPICS = "/collections/bread/topics.trec"
SAID = {
    "team_name": "Crumbs",
    "person": "Ben Ode",
    "affiliation": "University of Rye",
    "agreement": "1",
    "signs": "on",
    "signed_name": "Ben  Ode",
}
DETAILS = RegistrationDetails("Ben Ode", {"affiliation": "University of Rye"}, 1, "Ben Ode")


@pytest.fixture
def asking(track, ada):
    """The track asks for the affiliation and an agreement."""
    registrations.ask_teams(track.benchmark, ada, ["affiliation"], "")
    registrations.write_agreement(track.benchmark, ada, "Do **not** pass it on.")
    return track


@pytest.fixture
def gated(asking):
    """Only teams that signed may have the topics."""
    Collection.objects.update(topics_readers="signed")
    return asking


def admit(benchmark, user, name="Crumbs"):
    asks = people.JoinDetails(team_name=name, registration=DETAILS)
    return people.admit(Benchmark.objects.get(pk=benchmark.pk), user, asks)


def test_a_team_says_and_signs_what_is_asked(asking, as_ben, ben):
    assertContains(as_ben.get(JOIN), "Do <strong>not</strong> pass it on.")
    assert as_ben.post(JOIN, SAID).status_code == 302
    said = Registration.objects.get(team__name="Crumbs")
    assert (said.user, said.answers) == (ben, {"affiliation": "University of Rye"})
    assert str(said.signatures.get()) == "Ben  Ode, version 1"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"affiliation": ""}, "This field is required."),
        ({"signs": ""}, "Sign the agreement to take part."),
        ({"signed_name": "Ben"}, "This must be the person responsible: Ben Ode."),
        ({"agreement": "7"}, "The agreement has changed since you opened this page."),
    ],
)
def test_a_form_that_lacks_something_changes_nothing(asking, as_ben, changed, message):
    assertContains(as_ben.post(JOIN, SAID | changed), message, status_code=422)
    assert not Registration.objects.exists()
    assert not asking.benchmark.teams.exists()


def test_a_program_registers_as_people_do(asking, ben):
    with pytest.raises(people.JoinError, match="Name the person responsible"):
        people.admit(asking.benchmark, ben)
    assert not people.can_join_by_run(asking.benchmark)
    assert admit(asking.benchmark, ben).registration.person == "Ben Ode"


def test_several_teams_are_approved_at_once(asking, as_ada, ben, cat):
    benchmark = asking.benchmark
    Benchmark.objects.update(joining="approval")
    for user, name in ((ben, "Crumbs"), (cat, "Crusts")):
        asks = people.JoinDetails(team_name=name, registration=DETAILS)
        people.request_to_join(Benchmark.objects.get(pk=benchmark.pk), user, asks)
    page = as_ada.get(MANAGE)
    assertContains(page, "University of Rye", count=2)
    chosen = [f"{each.request.pk} {each.request.team_name}" for each in page.context["requests"]]
    as_ada.post(f"{MANAGE}approve/", {"chosen": chosen})
    teams = Registration.objects.values_list("team__name", flat=True)
    assert sorted(teams) == ["Crumbs", "Crusts"]


def test_a_merged_team_has_signed_what_either_team_signed(asking, ada, ben, cat):
    kept, team = admit(asking.benchmark, ben), admit(asking.benchmark, cat, "Crusts")
    kept.registration.signatures.all().delete()
    merge_teams(kept, team, ada)
    said = Registration.objects.get(team__isnull=False)
    assert (said.team, said.signatures.get().agreement.version) == (kept, 1)


def test_only_teams_that_signed_have_the_file(gated, as_ben, as_cat, client, ben, as_ada):
    assert {client.get(TOPICS).status_code, as_ben.get(TOPICS).status_code} == {404}
    assertContains(as_cat.get("/benchmarks/bread/data/"), "for registered teams that signed")
    admit(gated.benchmark, ben)
    assert as_ben.get(TOPICS).status_code == 200
    assert (Download.objects.get().user, Download.objects.get().file) == (ben, "topics.trec")
    assertContains(as_ada.get(f"{MANAGE}?format=csv&table=downloads"), "topics.trec,ben,Crumbs")
    assertContains(as_ada.get(f"{MANAGE}?format=csv"), "Crumbs,Ben Ode,ben,University of Rye")


def test_a_new_version_is_signed_again(gated, as_ben, as_ada, ben):
    admit(gated.benchmark, ben)
    as_ada.post(f"{MANAGE}agreement/", {"text": "Delete it by 2030."})
    assert as_ben.get(TOPICS).status_code == 404
    page = "/benchmarks/bread/register/"
    assertContains(as_ben.get(page), "Delete it by 2030.")
    as_ben.post(page, SAID | {"agreement": "2"})
    assert as_ben.get(TOPICS).status_code == 200
    assertContains(as_ben.get("/benchmarks/bread/agreement/?version=1"), "pass it on")


def test_organisers_see_who_has_not_signed_the_latest_version(asking, as_ada, as_ben, ada, ben):
    admit(asking.benchmark, ben)
    assertNotContains(as_ada.get(MANAGE), "latest version not signed")
    registrations.write_agreement(asking.benchmark, ada, "Delete it by 2030.")
    assertContains(as_ada.get(MANAGE), "latest version not signed")
    as_ben.post("/benchmarks/bread/register/", SAID | {"agreement": "2"})
    assertNotContains(as_ada.get(MANAGE), "latest version not signed")


def test_a_team_lacks_a_signature_once_there_is_an_agreement(track, as_ada, ada, ben):
    registrations.ask_teams(track.benchmark, ada, ["affiliation"], "")
    details = RegistrationDetails("Ben Ode", {"affiliation": "University of Rye"})
    people.admit(track.benchmark, ben, people.JoinDetails(registration=details))
    assertContains(as_ada.get(MANAGE), "University of Rye")
    assertNotContains(as_ada.get(MANAGE), "latest version not signed")
    registrations.write_agreement(track.benchmark, ada, "Do not pass it on.")
    assertContains(as_ada.get(MANAGE), "latest version not signed")


def test_readers_wait_for_the_date_too(gated, as_ben, ben):
    admit(gated.benchmark, ben)
    Track.objects.update(topics_at=timezone.now() + timedelta(days=1))
    assert as_ben.get(TOPICS).status_code == 404


def test_organisers_choose_what_is_asked(track, as_ada, as_ben):
    as_ada.post(MANAGE, {"asked": ["country", "question"], "question": "<script>Why?</script>"})
    page = as_ben.get(JOIN)
    assertContains(page, "Country")
    assertContains(page, "&lt;script&gt;Why?&lt;/script&gt;")
    assertNotContains(page, "Affiliation")


def test_a_track_that_leaves_a_benchmark_keeps_what_its_teams_signed(ada, ben, collection):
    tracks = [make_track(collection, slug) for slug in ("bread", "rolls")]
    benchmark = join_tracks(tracks, slug="meal", name="Meal")
    registrations.ask_teams(benchmark, ada, ["affiliation"], "")
    registrations.write_agreement(benchmark, ada, "Do not pass it on.")
    admit(benchmark, ben)
    remove_track(benchmark, ada, Track.objects.get(slug="rolls"))
    own = Benchmark.objects.get(tracks__slug="rolls")
    assert own.registrations.signed().get().team.name == "Crumbs"
    assert own.asked == ["affiliation"]


def test_strangers_see_nothing_of_what_teams_said(asking, ben):
    admit(asking.benchmark, ben)
    stranger = signed_in(make_user("eve"))
    for page in ("/benchmarks/bread/board/", "/benchmarks/bread/"):
        assertNotContains(stranger.get(page), "Ben Ode")
    assert stranger.get(MANAGE).status_code == 403
