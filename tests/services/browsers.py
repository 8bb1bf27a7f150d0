"""A browser without a screen, for tests and benchmarks that judge by HTTP."""

from __future__ import annotations

import json
import re
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import Any


class Browser:
    """A signed-in browser that knows nothing of the product but its pages."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.jar = url, CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        form = {
            "login": name,
            "password": f"{name}-s-word",
            "csrfmiddlewaretoken": self.token_of("/account/login/"),
        }
        self.opener.open(url + "/account/login/", urllib.parse.urlencode(form).encode(), 30).read()

    def read(self, path: str) -> str:
        return self.opener.open(self.url + path, timeout=30).read().decode()

    def token_of(self, path: str) -> str:
        return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.read(path))[1]

    def assignments(self) -> list[int]:
        return sorted(
            {
                int(key)
                for key in re.findall(r'href="/judging/(\d+)/', self.read("/judging/?all=next"))
            }
        )

    def start(self, assignment: int) -> str:
        """Read the guideline; return the token for marks."""
        path = f"/judging/{assignment}/before/"
        token = self.token_of(path)
        form = {"start": "yes", "csrfmiddlewaretoken": token}
        self.opener.open(self.url + path, urllib.parse.urlencode(form).encode(), 30).read()
        return token

    def send(self, assignment: int, token: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.url}/judging/{assignment}/marks/")
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
        request.add_header("X-CSRFToken", token)
        return json.load(self.opener.open(request, timeout=30))
