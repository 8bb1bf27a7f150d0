"""Sign-in by a real nginx that names people, and clients that name themselves."""

from __future__ import annotations

import http.client
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.services.machines import Site, SqliteSite, folder, free_port, until
from tests.services.test_edge import nginx

pytestmark = [pytest.mark.night, pytest.mark.services, pytest.mark.xdist_group("services")]

SIGN_IN = "/account/single-sign-on/proxy/"
# One address asks who it is, which stands here for a provider; every address replaces the header.
CONFIGURATION = """
pid {home}/nginx.pid;
error_log {home}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {home}/bodies;
    proxy_temp_path {home}/answers;
    proxy_set_header Host $http_host;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_set_header Remote-User "";
            proxy_set_header Host $http_host;
            proxy_pass {url};
        }}
        location {sign_in} {{
            proxy_set_header Remote-User $remote_user;
            proxy_set_header Host $http_host;
            proxy_pass {url};
        }}
    }}
}}
"""


@dataclass(frozen=True)
class Proxied:
    site: Site
    url: str


@pytest.fixture(scope="module")
def proxied() -> Iterator[Proxied]:
    with ExitStack() as stack:
        site = SqliteSite(stack.enter_context(folder()))
        site.environment |= {"PROXY_USER_HEADER": "Remote-User", "PROXY_ADDRESSES": "127.0.0.1"}
        stack.callback(site.close)
        site.open()
        home, port = stack.enter_context(folder()), free_port()
        process = subprocess.Popen(started_by(home, port, site))
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        until(lambda: ask(url, "/healthz") == (200, ""), "nginx answers")
        yield Proxied(site, url)


def started_by(home: Path, port: int, site: Site) -> list[str]:
    words = {"home": home, "port": port, "url": site.url, "sign_in": SIGN_IN}
    (home / "nginx.conf").write_text(CONFIGURATION.format(**words))
    return [nginx(), "-p", str(home), "-c", str(home / "nginx.conf"), "-g", "daemon off;"]


def ask(url: str, path: str, sender: str = "127.0.0.1", **headers: str) -> tuple[int, str]:
    """Return the status of a page, and the session that it begins."""
    line = http.client.HTTPConnection(urlsplit(url).netloc, source_address=(sender, 0), timeout=20)
    try:
        line.request("GET", path, headers={n.replace("_", "-"): v for n, v in headers.items()})
        answer = line.getresponse()
        cookies = answer.headers.get_all("Set-Cookie") or []
        return answer.status, next((each for each in cookies if "sessionid" in each), "")
    except OSError:
        return 0, ""
    finally:
        line.close()


def names(site: Site) -> list[str]:
    return [name for (name,) in site.rows("select username from leaderboard_user")]


def test_whom_nginx_names_is_signed_in(proxied: Proxied):
    status, session = ask(proxied.url, SIGN_IN, Authorization="Basic ZG9yYTp4")
    assert status == 302 and session and "dora" in names(proxied.site)


def test_a_header_that_a_client_sends_through_nginx_is_replaced(proxied: Proxied):
    for path in ("/tracks/", SIGN_IN):
        assert ask(proxied.url, path, Remote_User="mallory")[1] == ""
    assert "mallory" not in names(proxied.site)


def test_a_header_that_a_client_sends_past_nginx_is_ignored_and_logged(proxied: Proxied):
    forged = {"Remote_User": "mallory", "X_Forwarded_For": "127.0.0.1"}
    assert ask(proxied.site.url, SIGN_IN, "127.0.0.2", **forged)[0] == 401
    assert "mallory" not in names(proxied.site)
    assert "ignored a Remote-User from 127.0.0.2" in proxied.site.said("serve")


def test_a_header_in_another_spelling_signs_nobody_in(proxied: Proxied):
    """Where a server takes an underscore for a hyphen, a proxy would pass it on."""
    line = http.client.HTTPConnection(urlsplit(proxied.url).netloc, timeout=20)
    line.request("GET", SIGN_IN, headers={"Remote_User": "mallory"})
    assert line.getresponse().status == 401 and "mallory" not in names(proxied.site)
