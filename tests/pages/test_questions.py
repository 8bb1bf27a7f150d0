"""Questions and answers of a benchmark."""

import pytest
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.models import Notice, Question
from tests.builders import make_user, signed_in

PAGE = "/benchmarks/bread/questions/"


@pytest.fixture
def asked(track, as_ben):
    as_ben.post(PAGE, {"text": "May we <script>pool</script>?", "is_public": "on"})
    return Question.objects.get()


def answer(client, question, text="*Yes.*", **more):
    return client.post(f"{PAGE}{question.pk}/answer/", {"text": text, **more})


def test_an_answer_is_public_and_its_asker_is_not(asked, as_ada, as_cat, ada, ben):
    assert Notice.objects.get(user=ada).address.endswith(f"/questions/#question-{asked.pk}")
    answer(as_ada, asked)
    assert "answered" in Notice.objects.get(user=ben).text
    page = as_cat.get(PAGE)
    assertContains(page, "May we &lt;script&gt;pool&lt;/script&gt;?")
    assertContains(page, "<em>Yes.</em>")
    assertNotContains(page, "<bdi>ben</bdi>")
    assertContains(as_ada.get(PAGE), "<bdi>ben</bdi>")


def test_a_question_to_the_organisers_is_for_them_alone(track, as_ben, as_cat, as_ada):
    as_ben.post(PAGE, {"text": "Is our run late?"})
    asked = Question.objects.get()
    assertContains(answer(as_ada, asked, is_frequent="on"), "cannot be listed", status_code=422)
    answer(as_ada, asked)
    assertContains(as_ben.get(PAGE), "Is our run late?")
    assertNotContains(as_cat.get(PAGE), "Is our run late?")


def test_what_is_asked_often_comes_first(asked, as_ada, client):
    answer(as_ada, asked, is_frequent="on")
    as_ada.post(PAGE, {"text": "And how deep?", "is_public": "on"})
    page = client.get(PAGE).content.decode()
    assert page.index("May we") < page.index("And how deep")


def test_ten_questions_a_day_are_enough(track):
    dan = signed_in(make_user("dan"))
    for _ in range(10):
        dan.post(PAGE, {"text": "Why?"})
    assertContains(dan.post(PAGE, {"text": "Why?"}), "Ask again tomorrow.", status_code=422)
    assert Question.objects.count() == 10
