# SPDX-License-Identifier: Apache-2.0

"""Run the takeover on one database: the reference, then Plimsoll, the reference again, and Plimsoll again.

The same requests are sent to each service before and after its writes. Responses, output of commands and contents of
tables are recorded for the tests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from subprocess import CompletedProcess
from typing import Any

from tests.differential.requests import Request
from tests.storage.schema import dump, table_names
from tests.support.databases import run_sql
from tests.takeover import cloud, guide, legacy_rows, writes
from tests.takeover.cloud import uuid_of
from tests.takeover.comparison import TimedResponse, send_all
from tests.takeover.installation import Installation, RunningService, memory_of_worker
from tests.takeover.read_requests import build_requests

SCALE = int(os.environ.get("PLIMSOLL_TAKEOVER_SCALE", "1"))
"""Factor for the number of hosts and allocations."""

PROVIDERS_AT_ALL_VERSIONS = (
    "host 0",
    "host 0 numa 0",
    "host 0 numa 0 card",
    "disk pool",
    "flat host 0",
    legacy_rows.NO_GENERATION,
)
PROVIDERS_AT_NEWEST_VERSION = (
    *("host 1 numa 0", "host 3", "address pool", "flat host 1", "flat host 3", "flat host 5"),
    *("café", "cafe", "CAFE ", "naïve😀", "nobody"),
    *legacy_rows.ROOTLESS,
    *writes.providers("plimsoll"),
    *writes.providers("reference"),
)
CONSUMERS = (
    *("server 0", "of 1.28", "of 1.12", "of 1.8", "of 1.0", "nobody"),
    *(f"instance flat host {host} {number}" for host in (0, 1, 5) for number in range(3)),
    *legacy_rows.INCOMPLETE[:2],
    *writes.consumers("plimsoll"),
    *writes.consumers("reference"),
)


def all_read_requests() -> list[Request]:
    return build_requests(
        *(
            list(map(uuid_of, names))
            for names in (PROVIDERS_AT_ALL_VERSIONS, PROVIDERS_AT_NEWEST_VERSION, CONSUMERS)
        )
    )


@dataclass
class Scenario:
    installation: Installation
    requests: list[Request] = field(default_factory=all_read_requests)
    colliding_names: list[str] = field(default_factory=list)
    """Names that the database rejected as equal to an existing one."""
    responses: dict[str, list[TimedResponse]] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    commands: dict[str, CompletedProcess[str]] = field(default_factory=dict)
    worker_bytes: int = 0
    remaining_tables: set[str] = field(default_factory=set)
    """Tables that exist after our own are removed."""

    def run(self) -> None:
        """Run all steps; every command except the first is from the guide."""
        self.commands["create"] = self.installation.shell("placement-manage db sync")
        with self.installation.reference() as reference:
            self.colliding_names = cloud.make(reference)
            legacy_rows.fill(self.installation.url, SCALE)
            self._send_requests("the reference at first", reference)
        self._take_over()
        with self.installation.plimsoll() as plimsoll:
            self._send_requests("Plimsoll after taking over", plimsoll)
            self._run("complete")
            writes.WriteRound(plimsoll, "plimsoll").write_everything()
            self._send_requests("Plimsoll after writing", plimsoll)
            self.worker_bytes = memory_of_worker(plimsoll)
        self._run("verify")
        with self.installation.reference() as reference:
            self._send_requests("the reference after the way back", reference)
            writes.WriteRound(reference, "reference").write_everything()
            self._send_requests("the reference after writing", reference)
        self._take_over_again()
        run_sql(self.installation.url, *guide.statements("remove"))
        self.remaining_tables = table_names(self.installation.url)

    def _take_over(self) -> None:
        self._run("check")
        self.tables["before"] = dump(self.installation.url)
        self._run("sync")
        self.tables["after"] = dump(self.installation.url, with_ours=True)

    def _take_over_again(self) -> None:
        self._run("check", "check again")
        self._run("sync", "sync again")
        with self.installation.plimsoll() as plimsoll:
            self._send_requests("Plimsoll after taking over again", plimsoll)
        self._run("verify", "verify again")

    def _send_requests(self, when: str, service: RunningService) -> None:
        self.responses[when] = send_all(service, self.requests)

    def _run(self, step: str, name: str | None = None) -> None:
        self.commands[name or step] = self.installation.shell(guide.commands(step))
