# SPDX-License-Identifier: Apache-2.0

"""A server that lies now and then, to show that the comparison notices."""

import json
from dataclasses import replace
from typing import Any

from tests.differential.recorded import execute
from tests.differential.requests import Request
from tests.differential.servers import Answer, Reference, Server
from tests.differential.state import State

EVERY = 40
WAYS = ("answer", "status", "header", "state")
# MariaDB changes no table that the statement itself asks; a table that is derived from it is another one.
SPOIL_STATE = """
UPDATE resource_providers SET generation = generation + 1
WHERE id = (SELECT last_one FROM (SELECT max(id) AS last_one FROM resource_providers) AS derived)
"""


class Saboteur(Reference):
    """Stands before another server and spoils every so many of its answers, or its database."""

    def __init__(self, server: Server, way: str) -> None:
        assert way in WAYS, way
        self._server = server
        self._way = way
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

    def send(self, request: Request) -> Answer:
        answer = self._server.send(request)
        self._count += 1
        return self._spoil(answer) if self._count % EVERY == 0 else answer

    def state(self) -> State:
        return self._server.state()

    def verify(self) -> str | None:
        return self._server.verify()

    def _spoil(self, answer: Answer) -> Answer:
        self.done += 1
        if self._way == "state":
            execute(self.url, SPOIL_STATE)
            return answer
        if self._way == "status":
            return replace(answer, status=answer.status + 1)
        if self._way == "header":
            return replace(answer, headers=answer.headers | {"openstack-api-version": "placement 1.40"})
        return (
            replace(answer, body=json.dumps(altered(json.loads(answer.body))).encode())
            if answer.body
            else answer
        )


def altered(document: Any) -> Any:
    """The document with one leaf changed (or one more key, when it has no leaves)."""
    if isinstance(document, dict):
        for key in sorted(document):
            if key not in ("detail", "request_id"):
                return document | {key: altered(document[key])}
        return document | {"more": 1}
    if isinstance(document, list):
        return [altered(document[0]), *document[1:]] if document else ["more"]
    return document + 1 if isinstance(document, int | float) else f"{document}!"
