# SPDX-License-Identifier: Apache-2.0

"""The context of every use case: the ledger and the settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from plimsoll.config.options import UNKNOWN_OWNER
from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Draft
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules.allocations import Claim
from plimsoll.domain.values import value, with_fields
from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.ledger.command import Command
from plimsoll.ledger.current import OptimisticRead
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.ledger.unplaced_writer import UnplacedWriter
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.search.request import Order
from plimsoll.storage.errors import (
    ConstraintFailed,
    DatabaseFault,
    OutcomeUnknown,
    StatementTooLong,
    ValueNotStorable,
)

__all__ = [
    "ConstraintFailed",
    "DatabaseFault",
    "OutcomeUnknown",
    "Placement",
    "Settings",
    "StatementTooLong",
    "ValueNotStorable",
    "no_result",
    "provider_after",
]

T = TypeVar("T")


@value
class Settings:
    """The owner for clients too old to send one, and the options of a search."""

    incomplete_project: str = UNKNOWN_OWNER
    incomplete_user: str = UNKNOWN_OWNER
    order: Order = field(default_factory=Order)
    shuffle: bool = False
    search_budget: float = math.inf
    """Seconds that one search for candidates may take."""
    fast_paths: FastPaths = ALL


@value
class Placement:
    """Runs reads and writes of use cases on a ledger."""

    ledger: Ledger
    settings: Settings = field(default_factory=Settings)
    optimistic_read: OptimisticRead | None = None
    """Set while a read is in progress: all its steps use the same snapshot."""
    unplaced: UnplacedWriter | None = None
    """Records searches that found nothing; None if they are not recorded."""
    metrics: Metrics = NO_METRICS
    past: Snapshot | None = None
    """Set if the reads are of the cloud as of an earlier change."""

    def snapshot(self) -> Snapshot:
        if self.past is not None:
            return self.past
        return self.ledger.snapshot() if self.optimistic_read is None else self.optimistic_read.snapshot()

    def world(self) -> World:
        return self.snapshot().world

    def read(self, compute: Callable[[Placement], T], begun: OptimisticRead | None = None) -> T:
        """Return `compute(placement)` for the current snapshot. `compute` may run twice and must have no side effects.

        It runs on the newest snapshot in memory while the query for the head is in flight, and again if that snapshot
        turns out to be stale. The query is sent at the first use of the snapshot; or before, by `begin_read`.
        """
        optimistic_read = begun or self.ledger.optimistic_read()
        reader = with_fields(self, optimistic_read=optimistic_read)
        try:
            result = compute(reader)
        except Exception:
            if optimistic_read.confirm():
                raise
        else:
            if optimistic_read.confirm():
                return result
        self.metrics.read_repeated()
        return compute(reader)

    def begin_read(self) -> OptimisticRead:
        """Send the query for the head now: its result arrives while the request is checked."""
        optimistic_read = self.ledger.optimistic_read()
        optimistic_read.start()
        return optimistic_read

    def close(self) -> None:
        """Finish the work in the background, and close the database."""
        if self.unplaced is not None:
            self.unplaced.close()
        self.ledger.database.dispose()

    def write(
        self,
        operation: str,
        actor: Actor,
        decide: Callable[[Draft], Refusal | None],
        then: Callable[[World], T],
        claims: Sequence[Claim] = (),
    ) -> T | Refusal:
        """Commit a command. Return `then` of the world right after it, or the refusal."""
        command = Command(
            operation,
            actor,
            decide,
            tuple([each.consumer for each in claims if not each.assumes_new]),
            tuple([each.consumer for each in claims if each.assumes_new]),
        )
        outcome = self.ledger.submit(command)
        return outcome if isinstance(outcome, Refusal) else then(outcome)


def provider_after(uuid: str) -> Callable[[World], Provider]:
    """A `then` for `Placement.write` that returns the changed provider."""

    def provider_in(world: World) -> Provider:
        provider = world.provider(uuid)
        assert provider is not None
        return provider

    return provider_in


def no_result(_: Any) -> None:
    """A `then` for `Placement.write` that returns nothing."""
