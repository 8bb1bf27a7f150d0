"""A small OpenID Connect provider for tests: real HTTP, real keys, real signatures.

It signs in whoever is `person` without asking. What it answers can be changed, to see whether
somebody else's answer is accepted.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.small_servers import serving

CLIENT, SECRET = "rankfield", "a-secret-of-the-client"


class Provider:
    """What the provider knows: its key, its person, and the codes that it gave out."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.signs_with: Any = self.key
        self.algorithm = "RS256"
        self.person: dict[str, Any] = {"sub": "dora-7", "preferred_username": "dora"}
        self.claims: dict[str, Any] = {}
        self.says_instead: dict[str, Any] = {}
        self.refuses = False
        self.codes: dict[str, dict[str, str]] = {}

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "first", "alg": "RS256", "use": "sig"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser goes back to, with a code or an error."""
        assert asked["client_id"] == CLIENT and asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        said = {"state": asked["state"]}
        if self.refuses:
            return f"{asked['redirect_uri']}?{urlencode({**said, 'error': 'access_denied'})}"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({**said, 'code': code})}"

    def token(self, sent: dict[str, str]) -> dict[str, Any] | None:
        """Return tokens for a code that is used once, by its client, with its PKCE verifier."""
        asked = self.codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or sent.get("client_secret") != SECRET:
            return None
        if asked["code_challenge"] != challenge or asked["redirect_uri"] != sent["redirect_uri"]:
            return None
        return {"access_token": "access", "token_type": "Bearer", "id_token": self.id_token()}

    def id_token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 60,
            **self.person,
            **self.claims,
        }
        return jwt.encode(claims, self.signs_with, self.algorithm, headers={"kid": "first"})

    def userinfo(self) -> dict[str, Any]:
        return {**self.person, **self.says_instead}


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.provider.authorize(asked))
            self.end_headers()
            return
        pages = {
            "/.well-known/openid-configuration": self.provider.configuration,
            "/keys": self.provider.keys,
            "/userinfo": self.provider.userinfo,
        }
        self.answer(200, pages[parts.path]())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        tokens = self.provider.token(sent)
        self.answer(200 if tokens else 400, tokens or {"error": "invalid_grant"})

    def answer(self, status: int, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Bound", (Handler,), {"provider": provider})
    with serving(server):
        yield provider
