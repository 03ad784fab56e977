# SPDX-License-Identifier: Apache-2.0

"""A server with injected faults, to test that the comparison finds them."""

import json
from dataclasses import replace
from typing import Any

from tests.differential.database_state import execute
from tests.differential.requests import Request
from tests.differential.servers import Reference, Response, Server
from tests.differential.state import State

EVERY = 40
KINDS = ("answer", "status", "header", "state")
# MariaDB cannot update a table that the same statement reads, except through a derived table.
CORRUPT_STATE = """
UPDATE resource_providers SET generation = generation + 1
WHERE id = (SELECT last_one FROM (SELECT max(id) AS last_one FROM resource_providers) AS derived)
"""


class SabotagedServer(Reference):
    """Wraps another server and corrupts every 40th of its responses, or its database."""

    def __init__(self, server: Server, kind: str) -> None:
        assert kind in KINDS, kind
        self._server = server
        self._kind = kind
        self._count = 0
        self.name = f"sabotaged {server.name}"
        self.url = server.url
        self.done = 0

    def prepare(self) -> None:
        self._server.prepare()

    def launch(self) -> None:
        self._server.launch()

    def connect(self) -> None:
        self._server.connect()

    def stop(self) -> None:
        self._server.stop()

    def remove(self) -> None:
        self._server.remove()

    def send(self, request: Request) -> Response:
        response = self._server.send(request)
        self._count += 1
        return self._corrupt(response) if self._count % EVERY == 0 else response

    def state(self) -> State:
        return self._server.state()

    def verify(self) -> str | None:
        return self._server.verify()

    def _corrupt(self, response: Response) -> Response:
        self.done += 1
        if self._kind == "state":
            execute(self.url, CORRUPT_STATE)
            return response
        if self._kind == "status":
            return replace(response, status=response.status + 1)
        if self._kind == "header":
            return replace(response, headers=response.headers | {"openstack-api-version": "placement 1.40"})
        return (
            replace(response, body=json.dumps(altered(json.loads(response.body))).encode())
            if response.body
            else response
        )


def altered(document: Any) -> Any:
    """Return the document with one leaf changed, or one more key if it has no leaves."""
    if isinstance(document, dict):
        for key in sorted(document):
            if key not in ("detail", "request_id"):
                return document | {key: altered(document[key])}
        return document | {"more": 1}
    if isinstance(document, list):
        return [altered(document[0]), *document[1:]] if document else ["more"]
    return document + 1 if isinstance(document, int | float) else f"{document}!"
