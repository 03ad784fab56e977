# SPDX-License-Identifier: Apache-2.0

"""The plan of a run: processes, the operations of their clients, and events. It follows from a seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

PROVIDERS, CONSUMERS, PROJECTS, AGGREGATES = 3, 4, 4, 4
CAPACITY = 4

Kind = Literal[
    "claim", "release", "clear", "inventory", "aggregates", "create", "delete", "read", "allocations", "find"
]
_KINDS: tuple[Kind, ...] = (
    *("claim",) * 9,
    *("release",) * 2,
    "clear",
    *("inventory",) * 2,
    *("aggregates",) * 2,
    "create",
    "delete",
    *("read",) * 3,
    *("allocations",) * 2,
    "find",
)

EventKind = Literal["restart", "crash", "end request", "backup", "restore", "delay", "other node", "prune"]


@dataclass(frozen=True)
class Step:
    """One operation of a client, as intended. Generations are read when it runs."""

    kind: Kind
    provider: int
    other_provider: int | None
    consumer: int
    project: int
    amount: int
    generation: Literal["new", "read", "any", "memory"]
    """Of a claim: a new consumer, the one just read, unguarded. Of a provider: read, or as memory has it."""

    def __str__(self) -> str:
        also = "" if self.other_provider is None else f" and provider-{self.other_provider}"
        return {
            "claim": f"claim {self.amount} of provider-{self.provider}{also} for consumer-{self.consumer}"
            f" of project-{self.project} ({self.generation})",
            "release": f"release consumer-{self.consumer}",
            "clear": f"clear consumer-{self.consumer}",
            "inventory": f"set the total of provider-{self.provider} to {self.amount} ({self.generation})",
            "aggregates": f"set the aggregate of provider-{self.provider} to {self.project} ({self.generation})",
            "create": f"create provider-{self.provider}",
            "delete": f"delete provider-{self.provider}",
            "read": "read the providers",
            "allocations": f"read the allocations of provider-{self.provider}",
            "find": f"find providers with {self.amount} free",
        }[self.kind]


@dataclass(frozen=True)
class Event:
    """Something that happens to the processes or the database."""

    at_step: int
    kind: EventKind
    number: int

    def __str__(self) -> str:
        return f"at step {self.at_step}: {self.kind} {self.number}"


@dataclass(frozen=True)
class ClientPlan:
    process: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Plan:
    nodes: int
    """1 is a single server; more are a Galera cluster."""
    processes: int
    clients: tuple[ClientPlan, ...]
    events: tuple[Event, ...]
    fault_probability: float
    """Of each message."""
    switch_probability: float
    """Of each scheduling point."""
    step_seconds: float
    change_log_keep: int
    optimistic: bool
    multi_statement: bool
    compares_sql: bool
    """Whether memory is compared with SQL at the end as the service does it, which takes long."""

    def __str__(self) -> str:
        where = "one server" if self.nodes == 1 else f"a Galera cluster of {self.nodes} nodes"
        lines = [
            f"{self.processes} processes on {where}, {self.step_seconds} s per step,"
            f" the log keeps {self.change_log_keep} changes,"
            f" optimistic commits {'on' if self.optimistic else 'off'},"
            f" joined messages {'on' if self.multi_statement else 'off'},"
            f" {self.fault_probability:.0%} of messages fail"
        ]
        for number, client in enumerate(self.clients):
            for step in client.steps:
                lines.append(f"client {number} at process {client.process}: {step}")
        return "\n".join([*lines, *map(str, self.events)])


def make_plan(seed: int) -> Plan:
    rng = random.Random(f"plan {seed}")
    processes = rng.choice((1, 2, 2, 3))
    nodes = rng.choice((1, 1, 1, 2, 3))
    consumers = rng.choice((1, 2, CONSUMERS))
    clients = tuple(
        ClientPlan(rng.randrange(processes), tuple(_step(rng, consumers) for _ in range(rng.randint(1, 5))))
        for _ in range(rng.randint(2, 5))
    )
    return Plan(
        nodes=nodes,
        processes=processes,
        clients=clients,
        events=_events(rng, processes, nodes, len(clients)),
        fault_probability=rng.choice((0.0, 0.0, 0.01, 0.05, 0.2)),
        switch_probability=rng.choice((0.03, 0.1, 0.3, 0.7)),
        step_seconds=rng.choice((0.0001, 0.0001, 0.005, 0.05)),
        change_log_keep=rng.choice((1, 2, 5, 100)),
        optimistic=rng.random() < 0.8,
        multi_statement=rng.random() < 0.7,
        compares_sql=rng.random() < 0.1,
    )


def _step(rng: random.Random, consumers: int) -> Step:
    kind = rng.choice(_KINDS)
    generation = ("new", "new", "read", "read", "any") if kind == "claim" else ("read", "read", "memory")
    return Step(
        kind=kind,
        provider=rng.randrange(PROVIDERS + (kind in ("create", "delete", "claim"))),
        other_provider=rng.randrange(PROVIDERS) if rng.random() < 0.2 else None,
        consumer=rng.randrange(consumers),
        project=rng.randrange(PROJECTS),
        amount=rng.randint(1, CAPACITY),
        generation=rng.choice(generation),  # type: ignore[arg-type]
    )


def _events(rng: random.Random, processes: int, nodes: int, clients: int) -> tuple[Event, ...]:
    events: list[Event] = []
    for kind, probability, limit in (
        ("restart", 0.2, nodes),
        ("crash", 0.2, processes),
        ("end request", 0.25, clients),
        ("delay", 0.3, 4),
        ("prune", 0.4, 2),
        ("other node", 0.3 if nodes > 1 else 0.0, processes),
    ):
        while rng.random() < probability:
            events.append(Event(_at(rng), kind, rng.randrange(limit)))  # type: ignore[arg-type]
    if rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 2))):
            backup_at = _at(rng)
            events.append(Event(backup_at, "backup", 0))
            events.append(Event(backup_at + _at(rng), "restore", 0))
    return tuple(sorted(events, key=lambda event: event.at_step))


def _at(rng: random.Random) -> int:
    return int(rng.expovariate(1 / 250))
