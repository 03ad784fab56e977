# SPDX-License-Identifier: Apache-2.0

"""Histories made up by the model itself: clients at random, a service that is right, or wrong in a way we choose.

What the auditor says to them is tested: it must believe every history that is right, however its operations overlap,
and must find what is wrong in each of the others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from enum import Enum

from tests.audit import rows
from tests.audit.choices import next_action
from tests.audit.mind import Action, Mind
from tests.audit.model import EMPTY, Said, World, respond
from tests.audit.operations import NOTHING_CHANGED, Operation, Request
from tests.audit.run import beginning, everything
from tests.audit.words import Words


class Fault(Enum):
    """What the service does wrong, with one claim."""

    LOST = "it is answered and not written"
    DOUBLED = "it is written twice"
    WRITTEN_AFTER_ALL = "it is answered with a 503 and written"
    SHOWN_LATE = "at the end, one read does not show it"


@dataclass
class Story:
    """A history, and what SQL would say at its end."""

    operations: list[Operation]
    final: rows.Rows
    went_wrong: Request | None
    """The claim with which something went wrong."""


@dataclass
class Step:
    """An operation under way, the action that it is part of, and what is said to it as soon as it is done."""

    operation: Operation
    action: Action
    said: Said | None = None


class Simulation:
    """`open_share` of the writes get no answer, and half of these are not done either."""

    def __init__(
        self, seed: int, clients: int = 6, open_share: float = 0.0, fault: Fault | None = None
    ) -> None:
        self._dice = random.Random(f"{seed}/simulation")
        self._words = Words(seed)
        self._minds = [Mind(random.Random(f"{seed}/{number}"), self._words) for number in range(clients)]
        self._under_way: dict[int, Step] = {}
        self._open_share = open_share
        self._fault = fault
        self._went_wrong: Request | None = None
        self._before_it = EMPTY
        self._clock = 0
        self._world = EMPTY
        self._history: list[Operation] = []

    def run(self, steps: int) -> Story:
        for request in beginning(self._words):
            self._alone(request, self._world)
        for _ in range(steps):
            self._advance(self._dice.randrange(len(self._minds)))
        while self._under_way:
            self._advance(next(iter(self._under_way)), and_begin=False)
        final = rows.expected(self._world)
        for request in everything(self._words):
            self._alone(request, self._world if not self._is_shown_late(request) else self._before_it)
        self._history.sort(key=lambda operation: operation.began)
        return Story(self._history, final, self._went_wrong)

    def _advance(self, client: int, *, and_begin: bool = True) -> None:
        """A client begins something, or what it began is done, or it is told the answer."""
        step = self._under_way.get(client)
        if step is None:
            action = next_action(self._minds[client])
            request = next(action, None)
            if request is not None:
                self._begin(client, request, action)
        elif step.said is None:
            self._do(step)
        else:
            del self._under_way[client]
            operation = self._end(step)
            self._minds[client].knows.learn(operation)
            try:
                request = step.action.send(operation)
            except StopIteration:
                return
            if and_begin:
                self._begin(client, request, step.action)

    def _begin(self, client: int, request: Request, action: Action) -> None:
        operation = Operation(request, f"client {client}", 0, self._now(), 0)
        self._under_way[client] = Step(operation, action)

    def _do(self, step: Step) -> None:
        request = step.operation.request
        if request.method != "GET" and self._dice.random() < self._open_share:
            step.operation = replace(step.operation, note="no answer")
        if not step.operation.note or self._dice.random() < 0.5:
            step.said, self._world = self._right_or_wrong(request)
        else:
            step.said = Said(204)

    def _right_or_wrong(self, request: Request) -> tuple[Said, World]:
        before = self._world
        said, after = respond(before, request)
        is_due = self._went_wrong is None and len(self._history) > 200
        if self._fault is None or not is_due or request.kind != "claim" or said.is_refusal:
            return said, after
        self._went_wrong, self._before_it = request, before
        if self._fault is Fault.LOST:
            return said, before
        if self._fault is Fault.WRITTEN_AFTER_ALL:
            return Said(503, words=NOTHING_CHANGED), after
        if self._fault is Fault.DOUBLED:
            generation = after.consumers[request.parts[1]].generation
            again = replace(request, body={**request.body, "consumer_generation": generation})
            said_again, after = respond(after, again)
            if said_again.is_refusal:
                self._went_wrong = None
        return said, after

    def _is_shown_late(self, request: Request) -> bool:
        """One read of the claim's consumer, or of one of its providers, whichever comes first."""
        if self._fault is not Fault.SHOWN_LATE or self._went_wrong is None or len(request.parts) < 2:
            return False
        concerned = (self._went_wrong.parts[1], *self._went_wrong.body["allocations"])
        if request.parts[1] not in concerned:
            return False
        return respond(self._before_it, request)[0] != respond(self._world, request)[0]

    def _end(self, step: Step) -> Operation:
        assert step.said is not None
        operation = replace(step.operation, ended=self._now())
        if not operation.note:
            wait = "1" if step.said.status == 503 else None
            operation = replace(operation, status=step.said.status, answer=step.said.answer, retry_after=wait)
        self._history.append(operation)
        return operation

    def _alone(self, request: Request, world: World) -> None:
        """An operation that overlaps with none, and is answered from this world."""
        began = self._now()
        said, after = respond(world, request)
        if request.method != "GET":
            self._world = after
        self._history.append(Operation(request, "alone", 0, began, self._now(), said.status, said.answer))

    def _now(self) -> int:
        self._clock += 1
        return self._clock
