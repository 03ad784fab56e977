# SPDX-License-Identifier: Apache-2.0

"""What every use case works with: the ledger, and what the operator has set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Draft
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules.allocations import Claim
from plimsoll.domain.values import value
from plimsoll.domain.world import World
from plimsoll.ledger.command import Command
from plimsoll.ledger.current import OptimisticRead
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.request import Order
from plimsoll.storage.errors import (
    ConstraintFailed,
    DatabaseFault,
    OutcomeUnknown,
    TooLong,
    ValueNotKept,
)

__all__ = [
    "ConstraintFailed",
    "DatabaseFault",
    "OutcomeUnknown",
    "Placement",
    "Settings",
    "TooLong",
    "ValueNotKept",
    "nothing",
    "provider_after",
]

T = TypeVar("T")

NOBODY = "00000000-0000-0000-0000-000000000000"


@value
class Settings:
    """Owners for clients too old to name one, and the order in which candidates are made."""

    incomplete_project: str = NOBODY
    incomplete_user: str = NOBODY
    order: Order = field(default_factory=Order)
    shuffle: bool = False
    search_budget: float = math.inf
    """Seconds that one search for candidates may take."""


@value
class Placement:
    ledger: Ledger
    settings: Settings = field(default_factory=Settings)
    sight: OptimisticRead | None = None
    """Of who is reading."""

    def snapshot(self) -> Snapshot:
        return self.ledger.snapshot() if self.sight is None else self.sight.snapshot()

    def world(self) -> World:
        return self.snapshot().world

    def seeing(self, *, ahead: bool = False) -> Placement:
        """For who reads; `ahead` begins to ask the database already whether memory has the present."""
        sight = self.ledger.sight()
        if ahead:
            sight.look()
        return Placement(self.ledger, self.settings, sight)

    def read(self, question: Callable[[Placement], T]) -> T:
        """What a question makes of the present. It may be asked twice, and must change nothing.

        It is asked of what memory has while the database is asked whether that is the present.
        """
        if self.sight is None:
            return self.seeing().read(question)
        try:
            answer = question(self)
        except Exception:
            if self.sight.confirm():
                raise
        else:
            if self.sight.confirm():
                return answer
        return question(self)

    def write(
        self,
        operation: str,
        actor: Actor,
        decide: Callable[[Draft], Refusal | None],
        then: Callable[[World], T],
        claims: Sequence[Claim] = (),
    ) -> T | Refusal:
        """Submits a command, and makes the answer from the world right after it."""
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
    """The answer of a use case that shows the provider it has changed."""

    def shown(world: World) -> Provider:
        provider = world.provider(uuid)
        assert provider is not None
        return provider

    return shown


def nothing(_: Any) -> None:
    """The answer of a use case that has none."""
