# SPDX-License-Identifier: Apache-2.0

"""Point 10: a Keystone that does not respond. A fake one accepts some tokens and hangs on all others."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.attacks.attack import Outcome, Stop, attack, exchange, in_threads
from tests.attacks.sockets import request
from tests.attacks.target import Target

KNOWN = "known-token"
HANG_SECONDS = 30.0
UNKNOWN = 40
"""Unknown tokens at a time."""


class HangingKeystone:
    """Validates `KNOWN` with the roles admin and service, and never responds to validations of other tokens."""

    def __init__(self) -> None:
        self.validated: Counter[str] = Counter()
        """How often each token was validated."""
        self.sign_ins: list[str] = []
        """The name of the user, of each sign-in."""
        self.sign_in_seconds = HANG_SECONDS
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def settings(self) -> dict[str, str]:
        """Return the environment variables of a service that uses it."""
        options = {
            "AUTH_URL": f"{self.url}/v3",
            "WWW_AUTHENTICATE_URI": self.url,
            "AUTH_TYPE": "password",
            "USERNAME": "placement",
            "PASSWORD": "word",
            "PROJECT_NAME": "service",
            "USER_DOMAIN_NAME": "Default",
            "PROJECT_DOMAIN_NAME": "Default",
        }
        given = {f"OS_KEYSTONE_AUTHTOKEN__{name}": value for name, value in options.items()}
        return given | {"OS_API__AUTH_STRATEGY": "keystone"}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        keystone = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if not self.path.endswith("/auth/tokens"):
                    return self._respond(200, keystone.versions())
                token = self.headers.get("x-subject-token", "")
                keystone.validated[token] += 1
                if token != KNOWN:
                    keystone._over.wait(HANG_SECONDS)
                    return self._respond(
                        404, {"error": {"code": 404, "message": "unknown", "title": "Not Found"}}
                    )
                return self._respond(200, token_document(keystone.url))

            def do_POST(self) -> None:
                """Give a token to the service itself. Other users have to wait, and are refused."""
                document = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
                user = document["auth"]["identity"]["password"]["user"].get("name", "")
                if user == "placement":
                    return self._respond(
                        201, token_document(keystone.url), {"X-Subject-Token": "service-token"}
                    )
                keystone.sign_ins.append(user)
                keystone._over.wait(keystone.sign_in_seconds)
                return self._respond(401, {"error": {"code": 401, "message": "no", "title": "Unauthorized"}})

            def log_message(self, *_: Any) -> None:
                """Log nothing: standard output is for the table."""

            def _respond(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
                body = json.dumps(document).encode()
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                with suppress(OSError):  # the client did not wait for it
                    self.end_headers()
                    self.wfile.write(body)

        return Handler

    def versions(self) -> dict[str, Any]:
        link = {"rel": "self", "href": f"{self.url}/v3/"}
        version = {"id": "v3.14", "status": "stable", "links": [link], "media-types": []}
        return {"versions": {"values": [version]}, "version": version}


def token_document(url: str) -> dict[str, Any]:
    endpoints = [
        {"id": interface, "interface": interface, "url": f"{url}/v3", "region": "R", "region_id": "R"}
        for interface in ("public", "internal", "admin")
    ]
    domain = {"id": "default", "name": "Default"}
    return {
        "token": {
            "methods": ["password"],
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": "2099-01-01T00:00:00.000000Z",
            "user": {"id": "ada", "name": "Ada", "domain": domain},
            "project": {"id": "engines", "name": "E", "domain": domain},
            "roles": [{"id": "1", "name": "admin"}, {"id": "2", "name": "service"}],
            "catalog": [{"id": "1", "type": "identity", "name": "keystone", "endpoints": endpoints}],
        }
    }


def sign_in(user: str, **more: object) -> bytes:
    """A request for a token with a wrong password."""
    body = json.dumps({"user": user, "password": "wrong", **more}).encode()
    return request("POST", "/console/sign-in", body, token=None)


@attack("new")
def sign_ins_with_a_keystone_that_hangs(target: Target, stop: Stop, outcome: Outcome) -> None:
    """No token: 40 sign-ins at a time, each of another user. The target has to be set up with a HangingKeystone."""

    def send(number: int) -> None:
        attempt = 0
        while not stop.is_set():
            attempt += 1
            exchange(target, sign_in(f"user-{number}-{attempt}"), outcome, seconds=10)

    with in_threads(UNKNOWN, send, stop):
        while not stop.wait(0.2):
            pass


@attack("10")
def keystone_hangs(target: Target, stop: Stop, outcome: Outcome) -> None:
    """40 unknown tokens at a time. The target has to be set up with a HangingKeystone."""

    def send(number: int) -> None:
        attempt = 0
        while not stop.is_set():
            attempt += 1
            content = request("GET", "/resource_providers", token=f"unknown-{number}-{attempt}")
            exchange(target, content, outcome, seconds=10)

    with in_threads(UNKNOWN, send, stop):
        while not stop.wait(0.2):
            pass
