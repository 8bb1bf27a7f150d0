"""A form whose session has ended leads back to its page, and says that it was not sent."""

from __future__ import annotations

from urllib.parse import quote

from tests.pages.reading import page_at, words

PAGE = "/benchmarks/bread/desk/?all=teams"


def post(client, address: str, came_from: str, **headers: str):
    return client.post(address, {"text": "Hello"}, headers={"Referer": came_from, **headers})


def test_it_leads_back_to_the_page_of_the_form(track, client):
    answer = post(client, "/benchmarks/bread/desk/announce/", f"http://testserver{PAGE}")
    assert answer.url == f"/account/login/?next={quote(PAGE, safe='')}"
    assert "You were signed out, so your form was not sent." in words(page_at(client, answer.url))


def test_a_page_of_another_site_is_not_led_to(track, client):
    answer = post(client, "/benchmarks/bread/submit/", "https://evil.example/x")
    assert answer.url == f"/account/login/?next={quote('/benchmarks/bread/submit/', safe='')}"


def test_a_page_that_is_only_read_is_not_told_of_a_form(track, client):
    answer = client.get("/benchmarks/bread/submit/")
    assert "was not sent" not in page_at(client, answer.url)
