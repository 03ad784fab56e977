# SPDX-License-Identifier: Apache-2.0

"""The whole story on one database: the reference has it, Plimsoll takes it over, hands it back, and takes it again.

Whoever has the database is asked the same questions before it goes on to the other. What was answered, what
commands printed and what the tables held is kept, for tests to judge.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from subprocess import CompletedProcess
from typing import Any

from tests.differential.requests import Request
from tests.storage.schema import dump, table_names
from tests.support.databases import run_sql
from tests.takeover import cloud, guide, oldrows, writes
from tests.takeover.cloud import uuid_of
from tests.takeover.judge import Said, ask
from tests.takeover.questions import questions
from tests.takeover.services import Place, Running, memory_of_worker

SCALE = int(os.environ.get("PLIMSOLL_TAKEOVER_SCALE", "1"))
"""So many times as many hosts and allocations."""

CLOSELY = ("host 0", "host 0 numa 0", "host 0 numa 0 card", "disk pool", "flat host 0", oldrows.NO_GENERATION)
BRIEFLY = (
    *("host 1 numa 0", "host 3", "address pool", "flat host 1", "flat host 3", "flat host 5"),
    *("café", "cafe", "CAFE ", "naïve😀", "nobody"),
    *oldrows.ROOTLESS,
    *writes.providers("plimsoll"),
    *writes.providers("reference"),
)
CONSUMERS = (
    *("server 0", "of 1.28", "of 1.12", "of 1.8", "of 1.0", "nobody"),
    *(f"instance flat host {host} {number}" for host in (0, 1, 5) for number in range(3)),
    *oldrows.INCOMPLETE[:2],
    *writes.consumers("plimsoll"),
    *writes.consumers("reference"),
)


def all_questions() -> list[Request]:
    return questions(*(list(map(uuid_of, names)) for names in (CLOSELY, BRIEFLY, CONSUMERS)))


@dataclass
class Story:
    place: Place
    asked: list[Request] = field(default_factory=all_questions)
    same_names: list[str] = field(default_factory=list)
    """Names that the database took for one that was there already."""
    answers: dict[str, list[Said]] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    ran: dict[str, CompletedProcess[str]] = field(default_factory=dict)
    worker_bytes: int = 0
    left: set[str] = field(default_factory=set)
    """The tables that there are once ours are removed."""

    def happen(self) -> None:
        """Once; every command but the first is the guide's."""
        self.ran["create"] = self.place.shell("placement-manage db sync")
        with self.place.reference() as reference:
            self.same_names = cloud.make(reference)
            oldrows.fill(self.place.url, SCALE)
            self._ask("the reference at first", reference)
        self._take_over()
        with self.place.plimsoll() as plimsoll:
            self._ask("Plimsoll after taking over", plimsoll)
            self._run("complete")
            writes.Round(plimsoll, "plimsoll").write_everything()
            self._ask("Plimsoll after writing", plimsoll)
            self.worker_bytes = memory_of_worker(plimsoll)
        self._run("verify")
        with self.place.reference() as reference:
            self._ask("the reference after the way back", reference)
            writes.Round(reference, "reference").write_everything()
            self._ask("the reference after writing", reference)
        self._take_again()
        run_sql(self.place.url, *guide.statements("remove"))
        self.left = table_names(self.place.url)

    def _take_over(self) -> None:
        self._run("check")
        self.tables["before"] = dump(self.place.url)
        self._run("sync")
        self.tables["after"] = dump(self.place.url, with_ours=True)

    def _take_again(self) -> None:
        self._run("check", "check again")
        self._run("sync", "sync again")
        with self.place.plimsoll() as plimsoll:
            self._ask("Plimsoll after taking over again", plimsoll)
        self._run("verify", "verify again")

    def _ask(self, when: str, service: Running) -> None:
        self.answers[when] = ask(service, self.asked)

    def _run(self, step: str, name: str | None = None) -> None:
        self.ran[name or step] = self.place.shell(guide.commands(step))
