# SPDX-License-Identifier: Apache-2.0

"""A change that somebody wants: what it is called, who asks, and how it is decided."""

from __future__ import annotations

from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Decision
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.values import value
from plimsoll.domain.world import World
from plimsoll.ledger.group_commit import Waiter
from plimsoll.storage.errors import OutcomeUnknown

Answer = World | Refusal | Exception


@value
class Command:
    """`consumers` are those whose holdings the decision needs: they are read before it is asked.

    `new_consumers` are said to be new by the client. That is believed at first, for most of the time it is true:
    if the decision is to refuse, or the database knows one of them, it is decided again after a look at them too.
    """

    operation: str
    actor: Actor
    decide: Decision
    consumers: tuple[str, ...] = ()
    new_consumers: tuple[str, ...] = ()


class Abandoned(OutcomeUnknown):
    """The thread or greenlet that wrote the batch ended, or gave no outcome in time: it may have committed or not."""

    summary = "The write did not come to an end."
    is_outage = False


class Ticket(Waiter):
    """A command in the queue, and what became of it: the world right after it, a refusal, or a fault."""

    __slots__ = ("answer", "command")

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command
        self.answer: Answer | None = None
        """It is set only once it is true: what was decided, after its commit."""

    def result(self) -> World | Refusal:
        assert self.done
        answer = self.answer
        if answer is None:
            raise Abandoned
        if isinstance(answer, Exception):
            raise answer
        return answer
