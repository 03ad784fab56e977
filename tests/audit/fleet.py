# SPDX-License-Identifier: Apache-2.0

"""The services of a run: real processes, each with a port of its own, all on one database."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.running import Service
from tests.support.servers.places import free_port

VERIFY_SECONDS = 3
"""So often each service compares its memory with SQL."""

START_AGAIN_SECONDS = 90

_ERROR = re.compile(r" ERROR (\S+) \[[^\]]*\] (?:[A-Z]+ /\S*: )?(.*)")
_VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")


class AuditedService(Service):
    """A service on a database that others use too."""

    def __init__(self, directory: Path, url: Callable[[], str]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory)
        # Not one that some client gets by chance while the service is down.
        self.port = free_port()
        self._url = url

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {
            "OS_PLACEMENT_DATABASE__CONNECTION": self._url(),
            "OS_PLIMSOLL__VERIFY_INTERVAL": str(VERIFY_SECONDS),
            # A service that is started while the database is down should not sleep through the rest of the run.
            "OS_PLACEMENT_DATABASE__RETRY_INTERVAL": "1",
        }


class Fleet:
    def __init__(self, directory: Path, count: int, url: Callable[[int], str]) -> None:
        self.services = [
            AuditedService(directory / f"service-{number}", lambda number=number: url(number))  # type: ignore[misc]
            for number in range(count)
        ]
        self.deaths: list[tuple[int, int]] = []
        """Which service was killed, and when it was gone."""

    @property
    def ports(self) -> list[int]:
        return [service.port for service in self.services]

    def start(self) -> None:
        (first := self.services[0]).directory.joinpath("placement.conf").touch()
        done = first.command("db", "sync")
        assert done.returncode == 0, done.stdout + done.stderr
        with ThreadPoolExecutor(len(self.services)) as pool:
            for started in [pool.submit(service.start) for service in self.services]:
                started.result()

    def kill(self, number: int) -> None:
        self.services[number].kill()
        self.deaths.append((number, time.monotonic_ns()))

    def revive(self, number: int) -> None:
        """Starts a service that was killed. It may find no database for a while, and give up: then it tries again."""
        deadline = time.monotonic() + START_AGAIN_SECONDS
        while True:
            try:
                self.services[number].start()
                return
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def stop(self) -> None:
        for service in self.services:
            service.stop()

    def complaints(self) -> list[str]:
        """What services logged about their own memory: all but that the database was not there to compare it with."""
        return [
            f"service {number}: {said}"
            for number, service in enumerate(self.services)
            for where, said in _ERROR.findall(service.log())
            if where == "plimsoll.ledger.audit" and not said.startswith("Could not compare")
        ]

    def errors(self) -> dict[str, int]:
        """What services logged as errors, and how often, without what differs from line to line."""
        counted: dict[str, int] = {}
        for service in self.services:
            for where, said in _ERROR.findall(service.log()):
                line = f"{where}: {_VARYING.sub('#', said)[:100]}"
                counted[line] = counted.get(line, 0) + 1
        return counted
