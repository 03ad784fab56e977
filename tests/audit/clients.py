# SPDX-License-Identifier: Apache-2.0

"""Client threads: each has its own random generator and connections, and records its operations."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.audit.client_state import ClientState
from tests.audit.identifiers import Identifiers
from tests.audit.operations import Operation, Request
from tests.audit.workload import next_action

RESPONSE_TIMEOUT_SECONDS = 60
"""Timeout for a response."""

HEADERS = {"x-auth-token": "nova:services", "x-roles": "admin,service"}


class RecordingClient:
    """Keep-alive connections to all services. Records one operation per request, with or without a response."""

    def __init__(self, name: str, ports: Sequence[int]) -> None:
        self.name = name
        self._ports = ports
        self._connections: dict[int, http.client.HTTPConnection] = {}
        self._connected_at: dict[int, int] = {}
        self.history: list[Operation] = []

    def send(self, request: Request, service: int) -> Operation:
        """Send a request, and record and return the operation."""
        operation = Operation(request, self.name, service, time.monotonic_ns(), 0)
        try:
            connection = self._connect(service)
        except OSError as error:
            return self._record(operation, sent=False, note=repr(error))
        operation = replace(operation, began=time.monotonic_ns(), connected=self._connected_at[service])
        try:
            status, body, retry_after = _exchange(connection, request)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._disconnect(service)
            return self._record(operation, note=repr(error))
        return self._record(operation, status=status, answer=body, retry_after=retry_after)

    def close(self) -> None:
        for service in list(self._connections):
            self._disconnect(service)

    def _connect(self, service: int) -> http.client.HTTPConnection:
        if service not in self._connections:
            connection = http.client.HTTPConnection(
                "127.0.0.1", self._ports[service], timeout=RESPONSE_TIMEOUT_SECONDS
            )
            self._connected_at[service] = time.monotonic_ns()
            connection.connect()
            self._connections[service] = connection
        return self._connections[service]

    def _disconnect(self, service: int) -> None:
        self._connections.pop(service).close()

    def _record(self, operation: Operation, **outcome: Any) -> Operation:
        operation = replace(operation, ended=time.monotonic_ns(), **outcome)
        self.history.append(operation)
        return operation


class Client(threading.Thread):
    """Run random actions until `stop`. Each request goes to a randomly chosen service."""

    def __init__(self, number: int, seed: int, ids: Identifiers, ports: Sequence[int]) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        rng = random.Random(f"{seed}/{number}")
        self.state = ClientState(rng, ids)
        self.recorder = RecordingClient(self.name, ports)
        self.failure: BaseException | None = None
        self._services = len(ports)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Make the thread end after the current action."""
        self._stopping.set()

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._run_action()
        except BaseException as failure:  # raised again by the thread that joins this one
            self.failure = failure
        finally:
            self.recorder.close()

    def _run_action(self) -> None:
        action = next_action(self.state)
        request = next(action, None)
        while request is not None:
            operation = self.recorder.send(request, self.state.rng.randrange(self._services))
            self.state.known.update(operation)
            if not operation.sent or operation.status in (None, 503):
                # A short pause, so that retries against a service that is down do not use all the CPU.
                self._stopping.wait(0.02)
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
    response = connection.getresponse()
    body = response.read()
    return response.status, json.loads(body) if body else None, response.getheader("retry-after")
