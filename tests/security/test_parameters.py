"""No parameter of any page, whatever stands in it, is answered by a failure of ours.

The rows are those of the matrix, which has one for each address of the resolver.  The names of the
parameters are those that a view reads, so a new one is tried as soon as it is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from leaderboard.infrastructure.encodings import SafeEncodings, remove_unsafe_encoding
from leaderboard.models import Membership, User
from tests.builders import signed_in
from tests.pages.test_matrix import (
    ACTS,
    NOBODY,
    OPEN_PAGES,
    PAGES,
    filled,
    leaves,
    scene,
    scene_of_all,
    under,
)
from tests.security.parameters import Walker, reading

__all__ = ["scene", "scene_of_all"]

# Every page with every parameter takes minutes.
pytestmark = pytest.mark.night


@pytest.fixture
def sue(scene, settings) -> User:
    """Of the staff, so that nothing is refused to her; and leader of a team."""
    settings.ACCOUNT_RATE_LIMITS = False
    team = Membership.objects.get(team=scene[1]["team"]).team
    user = User.objects.get(username="sue")
    return Membership.objects.create(benchmark=team.benchmark, team=team, user=user).user


@pytest.fixture(params=["together", pytest.param("everywhere", marks=pytest.mark.night)])
def walker(sue, monkeypatch, request) -> Walker:
    """Sue tries the names of an address together, and by night each alone."""
    return of(signed_in(sue), reading(monkeypatch), thorough=request.param == "everywhere")


def of(client: Client, read: set[str], *, thorough: bool) -> Walker:
    client.raise_request_exception = False
    return Walker(client, thorough, read)


def pages() -> Iterator[str]:
    """Where nobody opens the page of a blind track, that of an open one."""
    for name, (address, statuses) in PAGES.items():
        yield OPEN_PAGES[name][0] if statuses == NOBODY and name in OPEN_PAGES else address


def test_no_parameter_breaks_a_page(scene, walker):
    for address in pages():
        walker.walk("get", address.format(**scene[1]), {})
    assert walker.failures == []
    assert {"a", "number", "judgments", "cutoff"} <= walker.alone


def test_no_field_breaks_a_form(scene, walker):
    for act in ACTS.values():
        walker.walk("post", act.address.format(**scene[1]), filled(act.form, scene[1]))
    assert walker.failures == []
    assert {"user", "baseline", "approve", "grade_2"} <= walker.alone


def test_no_field_of_a_stranger_breaks_the_way_in(walker):
    stranger = of(
        signed_in(User.objects.get(username="cat")), walker.read, thorough=walker.thorough
    )
    names = stranger.walk("post", "/benchmarks/meal/join/", {"team_name": "Crumbs"})
    assert stranger.failures == []
    assert {"invitation", "team", "team_name"} <= names


def test_no_parameter_breaks_what_belongs_to_an_account(walker):
    walkers = [walker, of(Client(), walker.read, thorough=walker.thorough)]
    for pattern in leaves(under("account/")):
        address = reverse(pattern.name, kwargs=dict.fromkeys(pattern.pattern.regex.groupindex, "a"))
        for each in walkers:
            each.walk("get", address, {})
            each.walk("post", address, {})
    assert [each.failures for each in walkers] == [[], []]
    assert {"login", "password", "next"} <= walkers[0].alone | walkers[1].alone


ODD = ["unicode_escape", "raw_unicode_escape", "rot13", "base64", "idna", "undefined", "utf-16"]


@pytest.mark.parametrize("encoding", ODD)
@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x"])
def test_no_encoding_that_a_request_names_breaks_a_page(scene, client, encoding, kind):
    inside = client.handler
    outside = SafeEncodings(lambda environ, start_response: inside(environ))
    client.handler = lambda environ: outside(environ, None)
    odd = {"CONTENT_TYPE": f"{kind}; charset={encoding}"}
    assert client.generic("GET", "/search/?q=%5Cud800%00", **odd).status_code == 200


def test_a_form_in_an_odd_encoding_keeps_its_fields():
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    read = remove_unsafe_encoding("multipart/form-data; charset=rot13; boundary=x")
    assert RequestFactory().generic("POST", "/", part, read).POST.dict() == {"a": "b"}


@pytest.mark.parametrize("name", ["sessionid", "csrftoken", "messages"])
def test_no_cookie_breaks_a_page(scene, client, name):
    """A cookie writes signs by their number, so it may hold any."""
    client.raise_request_exception = False
    for written in ('"' + "\\000" * 32 + '"', "9" * 40, '"' + "\\355\\240\\200" * 8 + '"'):
        answer = client.get("/", headers={"Cookie": f"{name}={written}"})
        assert (written, answer.status_code) == (written, 200)
