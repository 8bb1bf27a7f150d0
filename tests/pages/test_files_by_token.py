"""Programs fetch the files of the data page with a token, as its commands say."""

import pytest
from django.test import Client

from leaderboard.models import Collection
from tests.api.conftest import Program

TOPICS = "/collections/bread/topics.trec"


@pytest.fixture
def gated(track):
    Collection.objects.update(topics_readers="signed_in")
    return track


def test_a_token_fetches_what_its_owner_may_download(gated, ben):
    assert Client().get(TOPICS).status_code == 404
    answer = Program(ben, ["read"]).get(TOPICS)
    assert answer.status_code == 200 and "Authorization" in answer["Vary"]
    assert gated.collection.downloads.get().user == ben


def test_a_token_that_is_unknown_or_may_not_read_fetches_nothing(gated, ben):
    assert Program(ben, ["submit"]).get(TOPICS).status_code == 401
    unknown = {"Authorization": "Bearer rf_unknown"}
    assert Client().get(TOPICS, headers=unknown).status_code == 401


def test_a_token_is_for_files_and_opens_no_other_page(gated, ben):
    assert Program(ben, ["read"]).get("/account/").status_code == 302
