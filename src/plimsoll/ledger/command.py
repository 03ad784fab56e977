# SPDX-License-Identifier: Apache-2.0

"""A change that somebody wants: what it is called, who asks, and how it is decided."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Decision
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.world import World


@dataclass(frozen=True, slots=True)
class Command:
    """`consumers` are those whose holdings the decision needs: they are read before it is asked."""

    operation: str
    actor: Actor
    decide: Decision
    consumers: tuple[str, ...] = ()


class Ticket:
    """A command in the queue, and what became of it: the world right after it, a refusal, or a fault."""

    __slots__ = ("command", "done", "fault", "outcome")

    def __init__(self, command: Command) -> None:
        self.command = command
        self.done = False
        self.outcome: World | Refusal | None = None
        self.fault: Exception | None = None

    def settle(self, outcome: World | Refusal) -> None:
        self.outcome, self.fault = outcome, None

    def fail(self, fault: Exception) -> None:
        self.outcome, self.fault = None, fault

    def result(self) -> World | Refusal:
        assert self.done
        if self.fault is not None:
            raise self.fault
        assert self.outcome is not None
        return self.outcome
