# SPDX-License-Identifier: Apache-2.0

"""A running service on a database server, and a storm of clients who keep what they were told."""

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

from tests.faults.books import Books
from tests.faults.requests import claim, inventory, new_uuid
from tests.support.api import Answer, Api
from tests.support.running import Service

IMPATIENCE = Path(__file__).parent / "impatience"
CLIENT_SECONDS = 120
SETTLE_SECONDS = 60


class ServiceOn(Service):
    """A service on the database that a URL names. `patience` is what `impatience` can shorten."""

    def __init__(self, directory: Path, url: str, **patience: float) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory)
        self._url = url
        self._patience = {f"PLIMSOLL_PATIENCE_{name}": str(value) for name, value in patience.items()}

    @property
    def environment(self) -> dict[str, str]:
        theirs = super().environment
        paths = [str(IMPATIENCE), *filter(None, [theirs.get("PYTHONPATH")])]
        ours = {
            "OS_PLACEMENT_DATABASE__CONNECTION": self._url,
            "OS_PLIMSOLL__VERIFY_INTERVAL": "0",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        return theirs | self._patience | ours

    def wait(self) -> None:
        """Until it answers again: a worker that was killed is replaced by another."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, self.log()[-4000:]
            time.sleep(0.05)

    def line(self) -> Line:
        return Line(self.port)

    def verify(self) -> None:
        """`plimsoll db verify` finds nothing."""
        done = self.command("db", "verify")
        assert done.returncode == 0, done.stdout + done.stderr


class Line:
    """One keep-alive connection to a service, which gives whole answers, headers and all."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CLIENT_SECONDS)

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        if body is not None:
            headers["content-type"] = "application/json"
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        got = self._connection.getresponse()
        return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())

    def get(self, path: str) -> Answer:
        return self.call("GET", path)

    def put(self, path: str, body: Any) -> Answer:
        return self.call("PUT", path, body)

    def post(self, path: str, body: Any) -> Answer:
        return self.call("POST", path, body)

    def host(self, vcpu: int) -> str:
        host = new_uuid()
        assert self.call("POST", "/resource_providers", {"uuid": host, "name": host}).status == 200
        assert self.put(f"/resource_providers/{host}/inventories", inventory(0, vcpu)).status == 200
        return host

    def claim(self, *hosts: str, consumer: str | None = None) -> Answer:
        return self.put(f"/allocations/{consumer or new_uuid()}", claim(*hosts))

    def used(self, host: str) -> int:
        answer = self.get(f"/resource_providers/{host}/usages")
        assert answer.status == 200, answer.body
        return int(answer.json["usages"]["VCPU"])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def assert_unavailable(answer: Answer) -> None:
    """The API's error document for a request that may be tried again, and when."""
    assert answer.status == 503, answer.body
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["openstack-api-version"] == "placement 1.39"
    (error,) = answer.json["errors"]
    assert error["status"] == 503
    assert error["code"] == "placement.undefined_code"
    assert error["request_id"]


def settle(api: Api) -> None:
    """Ask until all is well again: what comes after is not about the fault any more."""
    deadline = time.monotonic() + SETTLE_SECONDS
    paths = ("/resource_providers?name=nobody", f"/allocations/{new_uuid()}", "/usages?project_id=p")
    while any(api.get(path).status != 200 for path in paths):
        assert time.monotonic() < deadline, "the service does not recover"


def says_nothing_was_changed(answer: Answer) -> bool:
    return "Nothing was changed" in answer.detail


class Putting(Protocol):
    def put(self, path: str, body: Any) -> Answer: ...


Way = Callable[[], AbstractContextManager[Putting]]
"""Opens a line of its own to a service."""


class Storm:
    """Clients who claim one unit of each host for a new consumer, again and again, and write down the answers."""

    def __init__(self, ways: Sequence[Way], hosts: Sequence[str], clients: int = 6) -> None:
        """The clients share these ways to the service among them."""
        self._ways = ways
        self._hosts = hosts
        self._over = threading.Event()
        self.answers: dict[str, Answer] = {}
        """By consumer."""
        self.shares: Counter[int] = Counter()
        """How many claims were answered well on each of the ways."""
        self._broken: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(each,), daemon=True) for each in range(clients)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(CLIENT_SECONDS + 10)
        assert not self._broken, self._broken

    def blow(self, seconds: float) -> None:
        time.sleep(seconds)

    def until_claimed(self, count: int, seconds: float = 60) -> None:
        """Wait for this many more claims to be answered well."""
        goal, deadline = len(self.claimed()) + count, time.monotonic() + seconds
        while len(self.claimed()) < goal:
            assert time.monotonic() < deadline, f"no claims any more: {self.statuses()} {self._broken}"
            assert not self._broken, self._broken
            time.sleep(0.02)

    def claimed(self) -> set[str]:
        return {consumer for consumer, answer in self.answers.copy().items() if answer.status == 204}

    def statuses(self) -> Counter[int]:
        return Counter(answer.status for answer in list(self.answers.values()))

    def compare(self, books: Books) -> None:
        """SQL has what was answered well, once and whole; and nothing of what was said not to have been done."""
        there = books.holders(self._hosts)
        assert there.keys() <= self.answers.keys(), "somebody holds something who never asked"
        consumers = books.consumers()
        for consumer, answer in self.answers.items():
            if answer.status == 204:
                assert there[consumer] == len(self._hosts), f"{consumer} is lost, doubled or half there"
                assert consumers[consumer][0] == 1
                continue
            assert_unavailable(answer)
            assert there[consumer] in (0, len(self._hosts)), f"{consumer} is half there"
            if says_nothing_was_changed(answer):
                assert consumer not in consumers, f"{consumer} is there, though it was said not to be"
                assert there[consumer] == 0
        books.assert_sound()

    def _run(self, number: int) -> None:
        try:
            way = number % len(self._ways)
            with self._ways[way]() as line:
                while not self._over.is_set():
                    consumer = new_uuid()
                    answer = line.put(f"/allocations/{consumer}", claim(*self._hosts))
                    self.answers[consumer] = answer
                    self.shares[way] += answer.status == 204
        except BaseException as broken:
            self._broken.append(broken)
