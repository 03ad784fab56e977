# SPDX-License-Identifier: Apache-2.0

"""One run: services and clients for some time, a final read of everything, and the audit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.audit import identifiers, rows
from tests.audit import operations as history_file
from tests.audit.auditor import audit
from tests.audit.clients import Client, RecordingClient
from tests.audit.databases import AuditedDatabase, opened
from tests.audit.findings import Finding
from tests.audit.fleet import Fleet
from tests.audit.identifiers import Identifiers
from tests.audit.kills import Killer, create_killers
from tests.audit.operations import Operation, Request
from tests.audit.proxies import open_proxies

UNKNOWN_CLOSES_AFTER = 10 * 10**9
"""How long after the death of its service an operation may still take effect, in nanoseconds."""

PROGRESS_SECONDS = 5
SETTLE_SECONDS = 90
"""How long each service may take to respond again after the last kill."""

Log = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    engine: str = "sqlite"
    seconds: float = 60
    kills: bool = False
    services: int = 4
    clients: int = 8
    spread: bool = True
    workers: int = 1


@dataclass
class Report:
    """The recorded run and the findings of the audit."""

    operations: list[Operation]
    seconds: float
    events: list[tuple[int, str]]
    final: rows.Rows
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(seed: int, settings: Settings, directory: Path, log: Log) -> Report:
    with (
        opened(settings.engine, directory, spread=settings.spread) as database,
        open_proxies(database.urls(), seed, enabled=settings.kills and database.victims > 0) as proxies,
    ):
        fleet = Fleet(
            directory,
            settings.services,
            lambda service: proxies.urls[database.node_of(service)],
            settings.workers,
        )
        try:
            fleet.start()
            killers = create_killers(seed, database, proxies, fleet) if settings.kills else []
            report = _run_clients(seed, settings, database, fleet, killers, log)
            history_file.write(directory / "history.jsonl", report.operations)
            report.findings += _service_findings(fleet)
            report.notes += [
                f"logged {count} times: {message}" for message, count in sorted(fleet.errors().items())
            ]
        finally:
            fleet.stop()
    if proxies.count:
        report.notes.append(
            f"{proxies.commits_interrupted} commits were interrupted, before or after the database executed them"
        )
    log("auditing")
    report.findings = audit(report.operations, report.final, report.notes, log) + report.findings
    return report


def _run_clients(
    seed: int,
    settings: Settings,
    database: AuditedDatabase,
    fleet: Fleet,
    killers: Sequence[Killer],
    log: Log,
) -> Report:
    ids = Identifiers(seed)
    setup_client = set_up(ids, fleet)
    clients = [Client(number, seed, ids, fleet.ports) for number in range(settings.clients)]
    start_time = time.monotonic()
    with running(killers), running(clients):
        wait(settings.seconds, clients, killers, log)
    seconds = time.monotonic() - start_time
    for failure in [*(each.failure for each in killers), *(each.failure for each in clients)]:
        if failure is not None:
            raise failure
    database.settle()
    log("reading everything through every service")
    reader = RecordingClient("reader", fleet.ports)
    findings = read_everything(reader, ids, fleet)
    reader.close()
    final, *others = database.read_all()
    findings += [
        Finding("the nodes of the database have different rows") for other in others if other != final
    ]
    histories = [setup_client.history, *(client.recorder.history for client in clients), reader.history]
    operations = sorted((each for history in histories for each in history), key=lambda each: each.began)
    operations = history_file.with_deadlines(operations, fleet.deaths, UNKNOWN_CLOSES_AFTER)
    events = [event for killer in killers for event in killer.events]
    return Report(operations, seconds, events, final, findings)


def set_up(ids: Identifiers, fleet: Fleet) -> RecordingClient:
    """Create the hosts; return the client, which has recorded it."""
    client = RecordingClient("setup", fleet.ports)
    for request in initial_requests(ids):
        operation = client.send(request, 0)
        assert operation.status is not None and operation.status < 300, operation
    client.close()
    return client


def initial_requests(ids: Identifiers) -> Iterator[Request]:
    """Yield requests that create the hosts, with capacity for most consumers but not all."""
    for number, uuid in enumerate(ids.hosts):
        body = {"uuid": uuid, "name": f"host-{number}"}
        yield Request("create provider", "POST", "/resource_providers", body)
        inventories = {name: {"total": 24 + 2 * number} for name in identifiers.STANDARD_CLASSES}
        given = {"resource_provider_generation": 0, "inventories": inventories}
        yield Request("replace inventories", "PUT", f"/resource_providers/{uuid}/inventories", given)


def read_everything(client: RecordingClient, ids: Identifiers, fleet: Fleet) -> list[Finding]:
    """Read everything through each service. A service may take time to recover, but must not fail after that."""
    findings = []
    for service in range(len(fleet.services)):
        _settle_service(client, fleet, service)
        for request in read_requests(ids):
            found = client.send(request, service)
            if found.status not in (200, 204, 404):
                findings.append(Finding(f"a service that had recovered fails again: {found}"))
    return findings


def settle(fleet: Fleet) -> None:
    """Wait until all services respond again after the last kill."""
    client = RecordingClient("settle", fleet.ports)
    for service in range(len(fleet.services)):
        _settle_service(client, fleet, service)
    client.close()


def _settle_service(client: RecordingClient, fleet: Fleet, service: int) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while client.send(Request("settle", "GET", "/resource_providers"), service).status != 200:
        assert time.monotonic() < deadline, f"service {service} does not recover: {client.history[-1]}"
        if fleet.services[service].has_ended:  # its last worker was killed while none could be started
            fleet.revive(service)
        time.sleep(0.2)


def read_requests(ids: Identifiers) -> Iterator[Request]:
    for uuid in ids.providers:
        for path in ("", "/inventories", "/usages", "/allocations", "/traits", "/aggregates"):
            yield Request("read at the end", "GET", f"/resource_providers/{uuid}{path}")
    for uuid in ids.consumers:
        yield Request("read at the end", "GET", f"/allocations/{uuid}")
    for name in identifiers.CUSTOM_CLASSES:
        yield Request("read at the end", "GET", f"/resource_classes/{name}")
    yield Request("read at the end", "GET", "/traits?name=startswith:CUSTOM_")
    for name in identifiers.STANDARD_CLASSES:
        yield Request("read at the end", "GET", f"/allocation_candidates?resources={name}:1")


@contextmanager
def running(threads: Sequence[Client | Killer]) -> Iterator[None]:
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.stop()
        for thread in threads:
            thread.join()


def wait(seconds: float, clients: Sequence[Client], killers: Sequence[Killer], log: Log) -> None:
    end = time.monotonic() + seconds
    reported = 0
    while (remaining := end - time.monotonic()) > 0:
        time.sleep(min(remaining, PROGRESS_SECONDS))
        count = sum(len(client.recorder.history) for client in clients)
        kills = sum("killed" in event for killer in killers for _, event in killer.events)
        log(f"{remaining:4.0f} s to go: {count} requests, {count - reported} more, {kills} kills")
        reported = count
        if any(not client.is_alive() for client in clients):
            return


def _service_findings(fleet: Fleet) -> list[Finding]:
    """Return differences that the services logged, and faults that `plimsoll db verify` found."""
    found = [
        Finding("a service found its memory different from SQL", [line])
        for line in fleet.memory_differences()
    ]
    verified = fleet.services[0].command("db", "verify")
    if verified.returncode != 0:
        found.append(
            Finding("`plimsoll db verify` finds faults", (verified.stdout + verified.stderr).splitlines())
        )
    return found
