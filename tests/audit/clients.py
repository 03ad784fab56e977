# SPDX-License-Identifier: Apache-2.0

"""Clients: each a thread with its own dice, its own connections, and a book in which it writes what it was told."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.audit.choices import next_action
from tests.audit.mind import Mind
from tests.audit.operations import Operation, Request
from tests.audit.words import Words

PATIENCE_SECONDS = 60
"""How long a client waits for an answer."""

HEADERS = {"x-auth-token": "nova:services", "x-roles": "admin,service"}


class Line:
    """One client's connections to all services, kept alive. Every request gets an operation, answered or not."""

    def __init__(self, name: str, ports: Sequence[int]) -> None:
        self.name = name
        self._ports = ports
        self._connections: dict[int, http.client.HTTPConnection] = {}
        self._since: dict[int, int] = {}
        self.book: list[Operation] = []

    def send(self, request: Request, service: int) -> Operation:
        """Sends a request, and writes down what became of it."""
        operation = Operation(request, self.name, service, time.monotonic_ns(), 0)
        try:
            connection = self._connect(service)
        except OSError as error:
            return self._write(operation, sent=False, note=repr(error))
        operation = replace(operation, began=time.monotonic_ns(), connected=self._since[service])
        try:
            status, answer, retry_after = _exchange(connection, request)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._hang_up(service)
            return self._write(operation, note=repr(error))
        return self._write(operation, status=status, answer=answer, retry_after=retry_after)

    def close(self) -> None:
        for service in list(self._connections):
            self._hang_up(service)

    def _connect(self, service: int) -> http.client.HTTPConnection:
        if service not in self._connections:
            connection = http.client.HTTPConnection(
                "127.0.0.1", self._ports[service], timeout=PATIENCE_SECONDS
            )
            self._since[service] = time.monotonic_ns()
            connection.connect()
            self._connections[service] = connection
        return self._connections[service]

    def _hang_up(self, service: int) -> None:
        self._connections.pop(service).close()

    def _write(self, operation: Operation, **outcome: Any) -> Operation:
        operation = replace(operation, ended=time.monotonic_ns(), **outcome)
        self.book.append(operation)
        return operation


class Client(threading.Thread):
    """Acts at random until it is told to stop. It talks to another service with each request."""

    def __init__(self, number: int, seed: int, words: Words, ports: Sequence[int]) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        dice = random.Random(f"{seed}/{number}")
        self.mind = Mind(dice, words)
        self.line = Line(self.name, ports)
        self.failure: BaseException | None = None
        self._services = len(ports)
        self._stop_asked = threading.Event()

    def stop(self) -> None:
        """Asks the thread to end as soon as it has its answer."""
        self._stop_asked.set()

    def run(self) -> None:
        try:
            while not self._stop_asked.is_set():
                self._act()
        except BaseException as failure:  # told to whoever waits for the thread
            self.failure = failure
        finally:
            self.line.close()

    def _act(self) -> None:
        action = next_action(self.mind)
        request = next(action, None)
        while request is not None:
            operation = self.line.send(request, self.mind.dice.randrange(self._services))
            self.mind.knows.learn(operation)
            if not operation.sent or operation.status in (None, 503):
                # Nobody hammers at a closed door; but nobody goes away either.
                self._stop_asked.wait(0.02)
            try:
                request = action.send(operation)
            except StopIteration:
                return


def _exchange(connection: http.client.HTTPConnection, request: Request) -> tuple[int, Any, str | None]:
    headers = {**HEADERS, "openstack-api-version": f"placement 1.{request.minor}"}
    content = None
    if request.body is not None:
        content = json.dumps(request.body)
        headers["content-type"] = "application/json"
    connection.request(request.method, request.target, content, headers)
    answer = connection.getresponse()
    read = answer.read()
    return answer.status, json.loads(read) if read else None, answer.getheader("retry-after")
