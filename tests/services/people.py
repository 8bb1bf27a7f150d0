"""People at a browser: an account of their own, cookies, pages and forms."""

from __future__ import annotations

import html
import re
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any

from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.services.machines import Site

PASSWORD = "sourdough, rye and oven"


@dataclass(frozen=True)
class Page:
    status: int
    address: str
    text: str


@dataclass
class Person:
    site: Site
    name: str
    token: str = ""
    cookies: CookieJar = field(default_factory=CookieJar)

    def open(self, path: str) -> Page:
        return self._asked(urllib.request.Request(self.site.url + path))

    def send(self, path: str, **fields: Any) -> Page:
        """A form, as the page at `path` or one before it gave it; where it leads is followed."""
        secret = next((each.value for each in self.cookies if "csrftoken" in each.name), "")
        body = encode_multipart(BOUNDARY, {"csrfmiddlewaretoken": secret, **fields})
        request = urllib.request.Request(self.site.url + path, body)
        request.add_header("Content-Type", MULTIPART_CONTENT)
        request.add_header("Origin", self.site.url)
        return self._asked(request)

    def ask(self, path: str, body: Any = None, **options: Any) -> Any:
        """The API's answer to this person's token."""
        return self.site.ask(path, self.token, body, **options)

    def _asked(self, request: urllib.request.Request) -> Page:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        try:
            answer = browser.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            address = answer.url.removeprefix(self.site.url)
            return Page(answer.status, address, html.unescape(answer.read().decode()))


def sign_up(site: Site, name: str) -> Person:
    """Somebody makes an account, and a token for their scripts."""
    person = Person(site, name)
    person.open("/account/signup/")
    page = person.send("/account/signup/", username=name, password1=PASSWORD, password2=PASSWORD)
    assert page.address == "/", page.text
    person.open("/account/")
    page = person.send("/account/", name="scripts", scopes=["read", "submit"], days="90")
    found = re.search(r'<pre id="secret">(rf_\S+)</pre>', page.text)
    assert found is not None, page.text
    person.token = found[1]
    return person


def organiser(site: Site, name: str) -> Person:
    """An account that may organise by the word of whoever runs the site."""
    person = sign_up(site, name)
    person.token = site.manage("create_token", name, "--organiser")
    return person
