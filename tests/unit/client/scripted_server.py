# SPDX-License-Identifier: Apache-2.0

"""An HTTP server in a thread that answers as a test prescribes, and records the requests."""

from __future__ import annotations

import json
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Scripted:
    status: int = 200
    body: Any = ""
    """Text, or a document that is sent as JSON."""
    headers: dict[str, str] = field(default_factory=dict)


class ScriptedServer:
    """Sends the answers in order; the last one is repeated."""

    def __init__(self, *answers: Scripted, context: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, dict[str, str]]] = []
        """Path and headers, the names in lower case."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"

    def next_answer(self) -> Scripted:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: ScriptedServer

    def do_GET(self) -> None:
        self.owner.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        answer = self.owner.next_answer()
        is_text = isinstance(answer.body, str)
        body = (answer.body if is_text else json.dumps(answer.body)).encode()
        headers = {
            "content-type": "text/plain; charset=UTF-8" if is_text else "application/json"
        } | answer.headers
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def error_document(status: int, title: str, detail: str) -> dict[str, Any]:
    error = {"status": status, "title": title, "detail": detail, "code": "placement.undefined_code"}
    return {"errors": [{**error, "request_id": "req-1"}]}
