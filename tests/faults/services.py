# SPDX-License-Identifier: Apache-2.0

"""A running service on a database server, and a load of clients that record the responses."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self

from tests.faults.database_rows import DatabaseRows
from tests.faults.requests import claim, inventory, new_uuid
from tests.support.api import Api, Response
from tests.support.running import Service

SHORT_TIMEOUTS = Path(__file__).parent / "short_timeouts"
CLIENT_SECONDS = 120
RECOVERY_SECONDS = 60


class DatabaseService(Service):
    """A service on the database of a URL, with timeouts that `short_timeouts/sitecustomize.py` sets."""

    def __init__(self, directory: Path, url: str, **timeouts: float) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory)
        self._url = url
        self._timeouts = {f"PLIMSOLL_TIMEOUT_{name}": str(value) for name, value in timeouts.items()}

    @property
    def environment(self) -> dict[str, str]:
        inherited = super().environment
        paths = [str(SHORT_TIMEOUTS), *filter(None, [inherited.get("PYTHONPATH")])]
        settings = {
            "OS_PLACEMENT_DATABASE__CONNECTION": self._url,
            "OS_PLIMSOLL__VERIFY_INTERVAL": "0",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        return inherited | self._timeouts | settings

    def wait(self) -> None:
        """Wait until the service responds again: a worker that was killed is replaced by another."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while not self._responds():
            assert time.monotonic() < deadline, self.log()[-4000:]
            time.sleep(0.05)

    def http_client(self) -> HttpClient:
        return HttpClient(self.port)

    def verify(self) -> None:
        """Assert that `plimsoll db verify` finds nothing."""
        done = self.command("db", "verify")
        assert done.returncode == 0, done.stdout + done.stderr


class HttpClient:
    """One keep-alive connection to a service, which returns whole responses with headers."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CLIENT_SECONDS)

    def call(self, method: str, path: str, body: Any = None) -> Response:
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        if body is not None:
            headers["content-type"] = "application/json"
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        raw = self._connection.getresponse()
        return Response(raw.status, {name.lower(): value for name, value in raw.getheaders()}, raw.read())

    def get(self, path: str) -> Response:
        return self.call("GET", path)

    def put(self, path: str, body: Any) -> Response:
        return self.call("PUT", path, body)

    def post(self, path: str, body: Any) -> Response:
        return self.call("POST", path, body)

    def host(self, vcpu: int) -> str:
        host = new_uuid()
        assert self.call("POST", "/resource_providers", {"uuid": host, "name": host}).status == 200
        assert self.put(f"/resource_providers/{host}/inventories", inventory(0, vcpu)).status == 200
        return host

    def claim(self, *hosts: str, consumer: str | None = None) -> Response:
        return self.put(f"/allocations/{consumer or new_uuid()}", claim(*hosts))

    def used(self, host: str) -> int:
        response = self.get(f"/resource_providers/{host}/usages")
        assert response.status == 200, response.body
        return int(response.json["usages"]["VCPU"])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def assert_unavailable(response: Response) -> None:
    """Assert that this is a 503 in the API's format, with `Retry-After`."""
    assert response.status == 503, response.body
    assert int(response.headers["retry-after"]) > 0
    assert response.headers["openstack-api-version"] == "placement 1.39"
    (error,) = response.json["errors"]
    assert error["status"] == 503
    assert error["code"] == "placement.undefined_code"
    assert error["request_id"]


def wait_until_recovered(api: Api) -> None:
    """Send requests until all succeed again, so that the next test is not affected by the fault."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    paths = ("/resource_providers?name=none", f"/allocations/{new_uuid()}", "/usages?project_id=p")
    while any(api.get(path).status != 200 for path in paths):
        assert time.monotonic() < deadline, "the service does not recover"


def states_nothing_was_changed(response: Response) -> bool:
    return "Nothing was changed" in response.detail


class PutClient(Protocol):
    def put(self, path: str, body: Any) -> Response: ...


OpenClient = Callable[[], AbstractContextManager[PutClient]]
"""Opens a connection to a service."""


class ClaimLoad:
    """Clients that claim one unit of each host for a new consumer, again and again, and record the responses."""

    def __init__(self, open_clients: Sequence[OpenClient], hosts: Sequence[str], clients: int = 6) -> None:
        """Each client opens its connection with one of `open_clients`, in rotation."""
        self._open_clients = open_clients
        self._hosts = hosts
        self._stop = threading.Event()
        self.responses: dict[str, Response] = {}
        """By consumer."""
        self.shares: Counter[int] = Counter()
        """The number of successful claims for each of `open_clients`, by index."""
        self._errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(each,), daemon=True) for each in range(clients)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(CLIENT_SECONDS + 10)
        assert not self._errors, self._errors

    def run_for(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait_for_claims(self, count: int, seconds: float = 60) -> None:
        """Wait until this many more claims have succeeded."""
        goal, deadline = len(self.claimed()) + count, time.monotonic() + seconds
        while len(self.claimed()) < goal:
            assert time.monotonic() < deadline, f"no more claims succeed: {self.statuses()} {self._errors}"
            assert not self._errors, self._errors
            time.sleep(0.02)

    def claimed(self) -> set[str]:
        return {consumer for consumer, response in self.responses.copy().items() if response.status == 204}

    def statuses(self) -> Counter[int]:
        return Counter(response.status for response in list(self.responses.values()))

    def compare(self, database_rows: DatabaseRows) -> None:
        """Assert that successful claims are in the database, once and complete, and refused ones are not."""
        counts = database_rows.allocation_counts(self._hosts)
        assert counts.keys() <= self.responses.keys(), "a consumer has allocations without a request"
        consumers = database_rows.consumers()
        for consumer, response in self.responses.items():
            if response.status == 204:
                assert counts[consumer] == len(self._hosts), f"{consumer} is lost, duplicated or incomplete"
                assert consumers[consumer][0] == 1
                continue
            assert_unavailable(response)
            assert counts[consumer] in (0, len(self._hosts)), f"{consumer} is incomplete"
            if states_nothing_was_changed(response):
                assert consumer not in consumers, f"{consumer} was written although the response denies it"
                assert counts[consumer] == 0
        database_rows.assert_consistent()

    def _run(self, number: int) -> None:
        try:
            source = number % len(self._open_clients)
            with self._open_clients[source]() as client:
                while not self._stop.is_set():
                    consumer = new_uuid()
                    response = client.put(f"/allocations/{consumer}", claim(*self._hosts))
                    self.responses[consumer] = response
                    self.shares[source] += response.status == 204
        except BaseException as error:
            self._errors.append(error)
