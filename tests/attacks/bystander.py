# SPDX-License-Identifier: Apache-2.0

"""A second client of the worker under attack: `GET /`, `/healthz` and a point read in rotation, on persistent connections.

In tests it runs in a thread and its responses are counted. `python -m tests.attacks` runs it as a process, so that the
attacker's own use of the processor does not count as latency.
"""

from __future__ import annotations

import json
import select
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from tests.attacks.sockets import Closed, RawConnection, TooLate, request

PATIENCE = 60.0
"""Seconds after which a response counts as lost."""
PAUSE = 0.002


@dataclass
class Experience:
    """The latencies of the bystander in one phase."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    """Requests without a response."""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else PATIENCE

    @property
    def latest(self) -> float:
        return max(self.seconds, default=PATIENCE)

    @property
    def is_served(self) -> bool:
        return set(self.statuses) == {"200"} and not self.lost


class Bystander:
    """The loop of requests. Each path has a connection of its own."""

    def __init__(self, port: int, host: str, token: str = "admin") -> None:
        self._port = port
        paths = ("/", "/healthz", f"/resource_providers/{host}")
        self._requests = [request("GET", path, token=token) for path in paths]
        self._connections: list[RawConnection | None] = [None] * len(paths)
        self.experience = Experience()

    def ask_all(self) -> None:
        """One request of each kind, one after the other."""
        for number, content in enumerate(self._requests):
            begun = time.perf_counter()
            try:
                connection = self._connections[number] or RawConnection(self._port, PATIENCE)
                self._connections[number] = connection
                connection.send(content)
                response = connection.response()
            except (Closed, TooLate, OSError):
                self.experience.lost += 1
                self._drop(number)
            else:
                self.experience.statuses[str(response.status)] += 1
                if response.is_closing:
                    self._drop(number)
            self.experience.seconds.append(time.perf_counter() - begun)

    def close(self) -> None:
        for number in range(len(self._connections)):
            self._drop(number)

    def _drop(self, number: int) -> None:
        connection, self._connections[number] = self._connections[number], None
        if connection is not None:
            connection.close()


class BystanderThread:
    """Counts responses. `experience` is complete after `with` has ended."""

    def __init__(self, port: int, host: str, token: str = "admin") -> None:
        self._bystander = Bystander(port, host, token)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def responses(self) -> int:
        return sum(self._bystander.experience.statuses.values())

    @property
    def experience(self) -> Experience:
        return self._bystander.experience

    def wait_for(self, responses: int, seconds: float) -> bool:
        """Wait for this many more responses; False after the deadline."""
        goal, deadline = self.responses + responses, time.monotonic() + seconds
        while self.responses < goal:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(PATIENCE + 5)

    def _run(self) -> None:
        try:
            while not self._over.wait(PAUSE):
                self._bystander.ask_all()
        finally:
            self._bystander.close()


class BystanderProcess:
    """The same in a process: `end_phase` returns what it saw since the last call."""

    def __init__(self, port: int, host: str, token: str = "admin") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attacks.bystander", str(port), host, token],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def end_phase(self) -> Experience:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("phase\n")
        self._process.stdin.flush()
        document: dict[str, Any] = json.loads(self._process.stdout.readline())
        return Experience(document["seconds"], Counter(document["statuses"]), document["lost"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.terminate()


def _main(port: str, host: str, token: str) -> None:
    bystander = Bystander(int(port), host, token)
    while True:
        bystander.ask_all()
        if select.select([sys.stdin], [], [], PAUSE)[0]:
            if not sys.stdin.readline():
                return
            experience, bystander.experience = bystander.experience, Experience()
            document = {
                "seconds": experience.seconds,
                "statuses": experience.statuses,
                "lost": experience.lost,
            }
            print(json.dumps(document), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
