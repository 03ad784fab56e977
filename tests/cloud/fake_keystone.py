# SPDX-License-Identifier: Apache-2.0

"""A Keystone that fails in ways in which a real one cannot be made to fail on demand.

It serves the requests of keystonemiddleware: the versions, a token for the service itself, and validations. A token is
valid if its text begins with `good`. Each of the three can hang, send one byte at a time, or send half a response.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

VERSIONS, LOGIN, VALIDATION = "versions", "login", "validation"
GIVE_UP = 300


class FakeKeystone:
    def __init__(self) -> None:
        self._released = threading.Event()
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"keystone": self}))
        self.port: int = self._server.server_address[1]
        self.reset()

    def reset(self) -> None:
        """Reset the failures and the recorded requests."""
        self.failing: dict[str, str] = {}
        """By step: `hang`, `drip` (a byte every 0.1 seconds, without an end) or `half` (of a body, then nothing)."""
        self.unauthorized = False
        """True if the token of the service itself has expired: the next validation is a 401."""
        self.requests: list[str] = []
        self.validated: list[str] = []
        """The tokens of all validations that have begun."""
        self.most_at_a_time = 0
        self._at_a_time = 0
        self._released.clear()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v3"

    def authtoken(self, **more: object) -> str:
        """The section of placement.conf for it."""
        options = {
            "auth_type": "password",
            "auth_url": self.url,
            "www_authenticate_uri": self.url,
            "username": "placement",
            "password": "secret",
            "project_name": "service",
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        } | more
        return "\n".join(
            [
                "[keystone_authtoken]",
                *(f"{name} = {value}" for name, value in options.items() if value != ""),
                "",
            ]
        )

    def hang(self, step: str = VALIDATION) -> None:
        self.failing[step] = "hang"

    def release(self) -> None:
        """Respond to the requests that hang, and stop failing."""
        self.unauthorized = False
        self.failing.clear()
        self._released.set()

    def wait_for_validations(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.validated) >= count, 60), self.validated

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def begun(self, step: str, token: str | None) -> None:
        with self._changed:
            self.requests.append(step)
            if step == VALIDATION:
                assert token is not None
                self.validated.append(token)
                self._at_a_time += 1
                self.most_at_a_time = max(self.most_at_a_time, self._at_a_time)
            self._changed.notify_all()

    def ended(self, step: str) -> None:
        with self._changed:
            self._at_a_time -= step == VALIDATION

    def wait_until_released(self) -> None:
        self._released.wait(GIVE_UP)

    def is_released(self, seconds: float) -> bool:
        return self._released.wait(seconds)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        """Ignore errors: tests close connections on purpose."""


class _Handler(BaseHTTPRequestHandler):
    keystone: FakeKeystone
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith("/v3/auth/tokens"):
            token = self.headers["X-Subject-Token"]
            status = 401 if self.keystone.unauthorized else 200 if token.startswith("good") else 404
            document = token_document(token) if status == 200 else {"error": {"code": status}}
            self._answer(VALIDATION, status, document, token)
        else:
            links = [{"rel": "self", "href": self.keystone.url}]
            version = {"id": "v3.14", "status": "stable", "links": links, "media-types": []}
            self._answer(VERSIONS, 200, {"version": version})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(LOGIN, 201, token_document("good service", url=self.keystone.url))

    def _answer(self, step: str, status: int, document: Any, token: str | None = None) -> None:
        keystone = self.keystone
        keystone.begun(step, token)
        try:
            failing = keystone.failing.get(step)
            if failing == "hang":
                keystone.wait_until_released()
            elif failing is not None:
                self._fail(failing)
                return
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Subject-Token", token or "good service")
            self.end_headers()
            self.wfile.write(body)
        finally:
            keystone.ended(step)

    def _fail(self, how: str) -> None:
        self.close_connection = True
        if how == "half":
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
            )
            self.keystone.wait_until_released()
            return
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        while not self.keystone.is_released(0.1):
            self.wfile.write(b"x")

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def token_document(token: str, url: str | None = None) -> dict[str, Any]:
    now = datetime.now(UTC)
    endpoint = {"interface": "admin", "url": url, "region": "R", "region_id": "R", "id": "e"}
    endpoints = [] if url is None else [endpoint, {**endpoint, "interface": "internal"}]
    return {
        "token": {
            "methods": ["password"],
            "audit_ids": ["a"],
            "issued_at": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "expires_at": (now + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "user": {"id": f"user of {token}", "name": "ada", "domain": {"id": "default", "name": "Default"}},
            "project": {"id": "p", "name": "p", "domain": {"id": "default", "name": "Default"}},
            "roles": [{"id": "1", "name": "admin"}, {"id": "2", "name": "service"}],
            "catalog": [{"type": "identity", "name": "keystone", "id": "i", "endpoints": endpoints}],
        }
    }


def refusing_port() -> socket.socket:
    """A port that nothing listens on, held so that nothing else gets it."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held
