# SPDX-License-Identifier: Apache-2.0

"""A command (one requested change) and its ticket (the command in the queue, with its outcome)."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Decision
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.values import value
from plimsoll.domain.world import World
from plimsoll.ledger.group_commit import Waiter
from plimsoll.runtime.base import Runtime
from plimsoll.storage.errors import OutcomeUnknown

Outcome = World | Refusal | Exception


@value
class Command:
    """One change: the operation and the actor for the change log, and the function that decides it.

    The holdings of `consumers` are read before `decide` is called. `new_consumers` do not exist yet according to the
    client. They are not read at first, because that is nearly always true. If `decide` refuses, or the insert finds an
    existing row, they are read too and the command is decided again.
    """

    operation: str
    actor: Actor
    decide: Decision
    consumers: tuple[str, ...] = ()
    new_consumers: tuple[str, ...] = ()


class Abandoned(OutcomeUnknown):
    """The leader of the batch ended, or reported no outcome before the timeout: the batch may be committed or not."""

    summary = "The write was not completed."
    is_outage = False


class Ticket(Waiter):
    """A command in the queue. Its outcome is the world right after it, a refusal, or an exception."""

    __slots__ = ("command", "outcome")

    def __init__(self, command: Command, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.command = command
        self.outcome: Outcome | None = None
        """None until the batch is committed or has failed for good."""

    def result(self) -> World | Refusal:
        """Return the outcome, or raise it if it is an exception. Raise Abandoned if there is none."""
        assert self.done
        outcome = self.outcome
        if outcome is None:
            raise Abandoned
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
