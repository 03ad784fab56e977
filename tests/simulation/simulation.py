# SPDX-License-Identifier: Apache-2.0

"""One run: create the database and the processes of a plan, run them under the scheduler, check everything."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from plimsoll.fast_paths import ALL
from plimsoll.ledger import commit, current, follow, ledger, pruner, snapshot
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.pruner import Retention
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.ledger.verify import differences
from plimsoll.metrics import Metrics
from plimsoll.service.placement import DatabaseFault, Placement
from plimsoll.storage import lookup_tables
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.simulation.choices import Choices
from tests.simulation.clients import Client
from tests.simulation.driver import Link, SimulatedDatabase
from tests.simulation.history import CLASS_ID, History
from tests.simulation.plan import CAPACITY, PROVIDERS, Event, Plan, make_plan
from tests.simulation.primitives import SimulatedRuntime, replaced_modules
from tests.simulation.scheduler import Group, Scheduler, Violation
from tests.simulation.server import Cluster, Contents, NodeFile

START = datetime(2026, 1, 1)
DELAYS = (0.5, 5.0, 12.0, 50.0)
"""Seconds that an event of the kind `delay` lasts: up to the timeouts of the ledger."""

SMALL_LIMITS: tuple[tuple[object, str, float], ...] = (
    (pruner, "PRUNE_INTERVAL", 2),
    (pruner, "PRUNE_BATCH", 2),
    (ledger, "MAX_BATCH", 3),
    (snapshot, "MAX_PAST_HEADS", 3),
    (snapshot, "MAX_TOUCHED", 2),
    (follow, "MAX_FOLLOWED_CHANGES", 8),
    (current, "MAX_FOLLOWED_CHANGES", 8),
    (follow, "CHANGES_PER_READ", 3),
    (current, "CHANGES_PER_READ", 3),
    (commit, "CHANGES_UNDER_LOCK", 3),
    (current, "MOSTLY", 0.05),
    (lookup_tables, "MAX_CACHED", 3),
)
"""Limits that a short run would never reach."""


@dataclass(frozen=True)
class Outcome:
    """The result of one run."""

    plan: Plan
    seed: int
    taken: Mapping[int, int]
    """The decisions that repeat the run."""
    violation: Violation | None
    counts: Counter[str]
    steps: int
    trace: list[str]


@dataclass(eq=False)
class Process:
    number: int
    link: Link
    group: Group
    placement: Placement | None = None
    checked: Snapshot | None = None
    """The newest snapshot that was compared with the history."""


class CountingMetrics(Metrics):
    """Counts what the ledger reports, so that a run shows what it has exercised."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts

    def batch_committed(self, commands: int) -> None:
        self._counts["batches"] += 1
        self._counts["batches of several commands"] += commands > 1

    def commit_done(self, mode: str, seconds: float) -> None:
        self._counts[f"commits, {mode}"] += 1

    def commit_retried(self, fault: Exception) -> None:
        self._counts[f"retries after {type(fault).__name__}"] += 1

    def changes_followed(self, changes: int, seconds: float) -> None:
        self._counts["changes followed"] += changes

    def full_load_done(self, seconds: float) -> None:
        self._counts["full loads"] += 1

    def read_repeated(self) -> None:
        self._counts["reads repeated"] += 1


class Simulator:
    """Makes runs, one after the other. Use it as a context manager: it replaces modules of the ledger and storage."""

    def __init__(self) -> None:
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self._directory = Path(tempfile.mkdtemp(prefix="plimsoll-simulation-", dir=base))
        self._files: list[NodeFile] = []
        self._scheduler: Scheduler | None = None
        self._exits = contextlib.ExitStack()

    def __enter__(self) -> Simulator:
        self._exits.callback(shutil.rmtree, self._directory, ignore_errors=True)
        gc.freeze()  # garbage collection need not look at the modules again and again
        self._exits.callback(gc.unfreeze)
        state = random.getstate()
        self._exits.callback(random.setstate, state)
        self._template = _make_template(self._directory / "template.sqlite")
        self._contents = self._file(0).contents()
        self._exits.enter_context(_silent_logs())
        self._exits.enter_context(replaced_modules(lambda: _not_none(self._scheduler)))
        for module, name, value in SMALL_LIMITS:
            self._exits.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()
        self._exits.close()

    def run(
        self,
        seed: int,
        plan: Plan | None = None,
        replay: Mapping[int, int] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run a plan; without one, that of the seed. `replay` repeats decisions instead of drawing them."""
        plan = plan or make_plan(seed)
        choices = Choices(seed, replay)
        random.seed(seed)
        scheduler = self._scheduler = Scheduler(
            choices, switch_probability=plan.switch_probability, step_seconds=plan.step_seconds
        )
        scheduler.trace = [] if traced else None
        files = [self._file(number) for number in range(plan.nodes)]
        for file in files:
            file.replace_contents(self._contents)
        run = Run(plan, scheduler, files)
        violation: Violation | None = None
        try:
            run.run()
        except Violation as found:
            violation = found
            scheduler.log(f"VIOLATION: {found}")
        finally:
            run.close()
        return Outcome(
            plan, seed, choices.taken, violation, run.counts, scheduler.steps, scheduler.trace or []
        )

    def _file(self, number: int) -> NodeFile:
        while len(self._files) <= number:
            path = self._directory / f"node-{len(self._files)}.sqlite"
            path.write_bytes(self._template)
            self._files.append(NodeFile(path))
        return self._files[number]


def _make_template(path: Path) -> bytes:
    """Return a database with the schema, one resource class, and some providers with inventory."""
    database = Database(f"sqlite:///{path}")
    migrate.sync(database)
    database.dispose()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("INSERT INTO resource_classes (id, name) VALUES (?, 'VCPU')", (CLASS_ID,))
    for number in range(PROVIDERS):
        connection.execute(
            "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
            " VALUES (?, ?, ?, 0, ?)",
            (number + 1, f"provider-{number}", f"name of provider-{number}", number + 1),
        )
        connection.execute(
            "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
            " max_unit, step_size, allocation_ratio) VALUES (?, ?, ?, 0, 1, 2147483647, 1, 1.0)",
            (number + 1, CLASS_ID, CAPACITY),
        )
    connection.execute("PRAGMA journal_mode = DELETE")  # so that all of it is in one file
    connection.execute("PRAGMA page_size = 512")
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    contents = path.read_bytes()
    for each in path.parent.iterdir():
        each.unlink()
    return contents


@dataclass(eq=False)
class Run:
    plan: Plan
    scheduler: Scheduler
    files: list[NodeFile]
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        scheduler, plan = self.scheduler, self.plan
        self.cluster = Cluster(scheduler, self.files, self._on_commit, self.counts)
        self.history = History(self.cluster.nodes[0].admin)
        self._events = list(plan.events)
        self._backup: tuple[Contents, int] | None = None
        self._clients = [
            Client(number, each.process, list(each.steps), scheduler, self.history, self.counts)
            for number, each in enumerate(plan.clients)
        ]
        self._processes = [
            Process(
                number,
                Link(self.cluster, self.cluster.nodes[number % plan.nodes], plan.fault_probability),
                Group(f"process {number}"),
            )
            for number in range(plan.processes)
        ]
        scheduler.on_step = self._check_step
        scheduler.is_event_due = self._is_event_due
        scheduler.next_event = self._next_event

    def run(self) -> None:
        for process in self._processes:
            self._start(process)
        self.scheduler.run()
        self._events.clear()
        for process in self._processes:
            process.link.fault_probability = 0.0
            self.scheduler.spawn("last check", process.group, partial(self._check_end, process))
        self.scheduler.run()

    def close(self) -> None:
        self.scheduler.close()
        self.cluster.close()
        # SQLAlchemy refers to connections that were not given back, and these to the cluster: without this, the ledgers
        # of all runs would stay in memory.
        self._processes.clear()
        self._clients.clear()
        self.scheduler.tasks.clear()

    # Processes

    def _start(self, process: Process) -> None:
        self.scheduler.spawn("start", process.group, lambda: self._serve(process))

    def _serve(self, process: Process) -> None:
        scheduler, group = self.scheduler, process.group
        runtime = SimulatedRuntime(scheduler, self.cluster.is_lost)
        fast_paths = replace(
            ALL,
            optimistic_commit=self.plan.optimistic,
            multi_statement=self.plan.multi_statement,
            bulk_follow=self.plan.bulk_follow,
        )
        metrics = CountingMetrics(self.counts)
        database = SimulatedDatabase(process.link, runtime, fast_paths, metrics)
        while True:
            try:
                made = Ledger(
                    database,
                    fast_paths=fast_paths,
                    retention=Retention(self.plan.change_log_keep),
                    metrics=metrics,
                    clock=lambda: START + timedelta(seconds=scheduler.now),
                )
            except DatabaseFault:
                scheduler.sleep(1)
                continue
            break
        process.placement = placement = Placement(made, metrics=metrics)
        for client in self._clients:
            if client.process == process.number:
                scheduler.spawn(f"client {client.number}", group, partial(client.run, placement))

    def _check_end(self, process: Process) -> None:
        """Without faults, a read succeeds and returns the last state; in some runs memory is compared with SQL too."""
        assert process.placement is not None
        began = self.history.moment()
        read = process.placement.read(lambda reader: reader.snapshot())
        if all(entry.head != read.head for entry in self.history.entries_since(began)):
            raise Violation(f"at the end, {process.group.name} reads change {read.head}")
        self.history.check_memory(read, process.group.name)
        found = differences(process.placement.ledger) if self.plan.compares_sql else ()
        if found:
            raise Violation(f"at the end, {process.group.name}: {'; '.join(found)}")

    # Checks

    def _on_commit(self, connection: sqlite3.Connection) -> None:
        self.history.on_commit(connection)

    def _check_step(self) -> None:
        for process in self._processes:
            if process.placement is not None:
                newest = process.placement.ledger.newest
                if newest is not process.checked:
                    self.history.check_memory(newest, process.group.name)
                    process.checked = newest

    # Events

    def _is_event_due(self) -> bool:
        return bool(self._events) and self.scheduler.steps >= self._events[0].at_step

    def _next_event(self) -> bool:
        if not self._is_event_due():
            return False
        event = self._events.pop(0)
        self.scheduler.log(f"EVENT: {event.kind} {event.number}")
        self.counts[f"events: {event.kind}"] += 1
        self._happen(event)
        return True

    def _happen(self, event: Event) -> None:
        process = self._processes[event.number % self.plan.processes]
        if event.kind == "restart":
            self.cluster.restart(self.cluster.nodes[event.number % self.plan.nodes])
        elif event.kind == "crash":
            self._crash(process)
        elif event.kind == "end request":
            for task in list(self.scheduler.tasks):
                if task.name == f"client {event.number}":
                    self.scheduler.kill(task)
        elif event.kind == "delay":
            self.scheduler.now += DELAYS[event.number]
        elif event.kind == "other node":
            process.link.node = self.cluster.nodes[(process.link.node.number + 1) % self.plan.nodes]
        elif event.kind == "prune":
            self.cluster.prune(self.history.last.head.seq - 1 - event.number)
        elif event.kind == "backup":
            self._backup = self.cluster.backup(), len(self.history.line) - 1
        elif self._backup is not None:
            contents, position = self._backup
            self.cluster.restore(contents)
            self.history.restored_to(position)

    def _crash(self, process: Process) -> None:
        self.scheduler.kill_group(process.group)
        for node in self.cluster.nodes:
            for session in list(node.sessions):
                if session.owner is process.link:
                    session.end()
        process.group = Group(process.group.name)
        process.placement = process.checked = None
        self._start(process)


@contextlib.contextmanager
def _silent_logs() -> Iterator[None]:
    """Keep the log lines of outages and reloads out of the output: a run has hundreds of them."""
    logger = logging.getLogger("plimsoll")
    was_disabled, logger.disabled = logger.disabled, True
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(level)
        logger.disabled = was_disabled


def _not_none(scheduler: Scheduler | None) -> Scheduler:
    assert scheduler is not None, "the ledger is used outside of a run"
    return scheduler
