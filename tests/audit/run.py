# SPDX-License-Identifier: Apache-2.0

"""One run: services and clients at work for a while, all read at the end, and the auditor's verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.audit import operations as history
from tests.audit import rows, words
from tests.audit.auditor import audit
from tests.audit.clients import Client, Line
from tests.audit.databases import AuditedDatabase, opened
from tests.audit.findings import Finding
from tests.audit.fleet import Fleet
from tests.audit.kills import Killer, killers
from tests.audit.operations import Operation, Request
from tests.audit.wires import wired
from tests.audit.words import Words

PATIENCE = 10 * 10**9
"""So long after its service has died an operation may still take effect, in nanoseconds."""

TELL_SECONDS = 5
SETTLE_SECONDS = 90
"""How long services may take until each answers again after the last kill."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    engine: str = "sqlite"
    seconds: float = 60
    kills: bool = False
    services: int = 4
    clients: int = 8
    spread: bool = True


@dataclass
class Report:
    """What a run did, and what the auditor says to it."""

    operations: list[Operation]
    seconds: float
    events: list[tuple[int, str]]
    final: rows.Rows
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(seed: int, settings: Settings, directory: Path, tell: Tell) -> Report:
    with (
        opened(settings.engine, directory, spread=settings.spread) as database,
        wired(database.urls(), seed, can_be_cut=settings.kills and database.victims > 0) as wires,
    ):
        fleet = Fleet(directory, settings.services, lambda service: wires.urls[database.node_of(service)])
        try:
            fleet.start()
            at_large = killers(seed, database, wires, fleet) if settings.kills else []
            report = _work(seed, settings, database, fleet, at_large, tell)
            history.write(directory / "history.jsonl", report.operations)
            report.findings += _faults_of(fleet)
            report.notes += [
                f"logged {count} times: {said}" for said, count in sorted(fleet.errors().items())
            ]
        finally:
            fleet.stop()
    if wires.count:
        report.notes.append(f"{wires.commits_cut} commits were cut, before or after they were done")
    tell("auditing")
    report.findings = audit(report.operations, report.final, report.notes, tell) + report.findings
    return report


def _work(
    seed: int,
    settings: Settings,
    database: AuditedDatabase,
    fleet: Fleet,
    at_large: Sequence[Killer],
    tell: Tell,
) -> Report:
    vocabulary = Words(seed)
    first = Line("setup", fleet.ports)
    for request in beginning(vocabulary):
        made = first.send(request, 0)
        assert made.status is not None and made.status < 300, made
    first.close()
    clients = [Client(number, seed, vocabulary, fleet.ports) for number in range(settings.clients)]
    began = time.monotonic()
    with _at_work(at_large), _at_work(clients):
        _wait(settings.seconds, clients, at_large, tell)
    seconds = time.monotonic() - began
    for failure in [*(each.failure for each in at_large), *(each.failure for each in clients)]:
        if failure is not None:
            raise failure
    database.settle()
    tell("reading everything through every service")
    last = Line("reader", fleet.ports)
    findings = read_everything(last, vocabulary, settings.services)
    last.close()
    final, *others = database.copies()
    findings += [
        Finding("the nodes of the database do not hold the same") for other in others if other != final
    ]
    books = [first.book, *(client.line.book for client in clients), last.book]
    operations = sorted((each for book in books for each in book), key=lambda each: each.began)
    operations = history.closed_by(operations, fleet.deaths, PATIENCE)
    events = [event for killer in at_large for event in killer.events]
    return Report(operations, seconds, events, final, findings)


def beginning(vocabulary: Words) -> Iterator[Request]:
    """The hosts, with enough room for most consumers, and not for all."""
    for number, uuid in enumerate(vocabulary.hosts):
        body = {"uuid": uuid, "name": f"host-{number}"}
        yield Request("create provider", "POST", "/resource_providers", body)
        inventories = {name: {"total": 24 + 2 * number} for name in words.STANDARD_CLASSES}
        given = {"resource_provider_generation": 0, "inventories": inventories}
        yield Request("replace inventories", "PUT", f"/resource_providers/{uuid}/inventories", given)


def read_everything(line: Line, vocabulary: Words, services: int) -> list[Finding]:
    """Through each service. After the last kill it may take a while until one answers, but then it has to go on."""
    findings = []
    for service in range(services):
        deadline = time.monotonic() + SETTLE_SECONDS
        while line.send(Request("settle", "GET", "/resource_providers"), service).status != 200:
            assert time.monotonic() < deadline, f"service {service} does not recover: {line.book[-1]}"
            time.sleep(0.2)
        for request in everything(vocabulary):
            found = line.send(request, service)
            if found.status not in (200, 204, 404):
                findings.append(Finding(f"a service that had recovered fails again: {found}"))
    return findings


def everything(vocabulary: Words) -> Iterator[Request]:
    for uuid in vocabulary.providers:
        for what in ("", "/inventories", "/usages", "/allocations", "/traits", "/aggregates"):
            yield Request("read at the end", "GET", f"/resource_providers/{uuid}{what}")
    for uuid in vocabulary.consumers:
        yield Request("read at the end", "GET", f"/allocations/{uuid}")
    for name in words.CUSTOM_CLASSES:
        yield Request("read at the end", "GET", f"/resource_classes/{name}")
    yield Request("read at the end", "GET", "/traits?name=startswith:CUSTOM_")
    for name in words.STANDARD_CLASSES:
        yield Request("read at the end", "GET", f"/allocation_candidates?resources={name}:1")


@contextmanager
def _at_work(threads: Sequence[Client | Killer]) -> Iterator[None]:
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.stop()
        for thread in threads:
            thread.join()


def _wait(seconds: float, clients: Sequence[Client], at_large: Sequence[Killer], tell: Tell) -> None:
    end = time.monotonic() + seconds
    told = 0
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, TELL_SECONDS))
        count = sum(len(client.line.book) for client in clients)
        kills = sum("killed" in what for killer in at_large for _, what in killer.events)
        tell(f"{left:4.0f} s to go: {count} requests, {count - told} more, {kills} kills")
        told = count
        if any(not client.is_alive() for client in clients):
            return


def _faults_of(fleet: Fleet) -> list[Finding]:
    """What services say of themselves, and `plimsoll db verify` of the database."""
    found = [Finding("a service found its memory different from SQL", [line]) for line in fleet.complaints()]
    verified = fleet.services[0].command("db", "verify")
    if verified.returncode != 0:
        found.append(
            Finding("`plimsoll db verify` finds faults", (verified.stdout + verified.stderr).splitlines())
        )
    return found
