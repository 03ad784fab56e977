# SPDX-License-Identifier: Apache-2.0

"""The services of a run: one process and one port each, all on one database."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.support.running import Service
from tests.support.servers.places import free_port

VERIFY_SECONDS = 3
"""Interval at which each service compares its memory with SQL."""

RESTART_TIMEOUT_SECONDS = 90
PAUSED_SECONDS = (0.1, 7.0)
"""How long a worker is paused: with the longer ones, the others write by themselves meanwhile."""

_ERROR = re.compile(r" ERROR (\S+) \[[^\]]*\] (?:[A-Z]+ /\S*: )?(.*)")
_VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")


class AuditedService(Service):
    """A service that shares its database with other services."""

    def __init__(self, directory: Path, url: Callable[[], str], workers: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory, workers)
        # From the range that the system does not assign to clients while the service is down.
        self.port = free_port()
        self._url = url

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {
            "OS_PLACEMENT_DATABASE__CONNECTION": self._url(),
            "OS_PLIMSOLL__VERIFY_INTERVAL": str(VERIFY_SECONDS),
            # A service that starts while the database is down retries every second, not after the default interval.
            "OS_PLACEMENT_DATABASE__RETRY_INTERVAL": "1",
        }


class Fleet:
    def __init__(self, directory: Path, count: int, url: Callable[[int], str], workers: int = 1) -> None:
        self.workers = workers
        self.services = [
            AuditedService(directory / f"service-{number}", partial(url, number), workers)
            for number in range(count)
        ]
        self.deaths: list[tuple[int, int]] = []
        """Killed services, with the time at which the process was gone."""

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

    def inject_worker_fault(self, number: int, rng: random.Random) -> None:
        """Kill, end or pause one worker, mostly the one that writes, or reload all. The service may be down, or starting.

        It is no death of the service: operations at its other workers continue.
        """
        service, seconds = self.services[number], rng.uniform(*PAUSED_SECONDS)
        fault = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGHUP))
        with contextlib.suppress(AssertionError, OSError, IndexError):
            pid = service.pid if fault == signal.SIGHUP else service.worker_pids()[0]
            os.kill(pid, fault)
            if fault == signal.SIGSTOP:
                time.sleep(seconds)
                os.kill(pid, signal.SIGCONT)

    def revive(self, number: int) -> None:
        """Restart a killed service. Its start fails while the database is down, and is retried."""
        deadline = time.monotonic() + RESTART_TIMEOUT_SECONDS
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

    def memory_differences(self) -> list[str]:
        """Return logged differences between memory and SQL, without comparisons that failed for lack of a database."""
        return [
            f"service {number}: {message}"
            for number, service in enumerate(self.services)
            for logger, message in _ERROR.findall(service.log())
            if logger == "plimsoll.ledger.audit" and not message.startswith("Memory was not compared")
        ]

    def errors(self) -> dict[str, int]:
        """Count logged errors, with numbers and uuids replaced by `#`."""
        counted: dict[str, int] = {}
        for service in self.services:
            for logger, message in _ERROR.findall(service.log()):
                line = f"{logger}: {_VARYING.sub('#', message)[:100]}"
                counted[line] = counted.get(line, 0) + 1
        return counted
