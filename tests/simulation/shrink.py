# SPDX-License-Identifier: Apache-2.0

"""Shrink a run that violates a rule: fewer operations, fewer events, fewer interruptions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.simulation.plan import Plan
from tests.simulation.simulation import Outcome, Simulator

SCHEDULES = 25
"""Orders that are tried for each smaller plan: the order of the larger one does not fit it."""


def shrink(simulator: Simulator, failed: Outcome, seconds: float = 60.0) -> Outcome:
    """Return a smaller run that violates a rule too, with its trace. Stops after so many seconds of processor time."""
    deadline = time.process_time() + seconds
    smallest = failed
    while (smaller := _with_smaller_plan(simulator, smallest, deadline)) is not None:
        smallest = smaller
    taken = _fewer_decisions(simulator, smallest, deadline)
    return simulator.run(smallest.seed, smallest.plan, taken, traced=True)


def _with_smaller_plan(simulator: Simulator, failed: Outcome, deadline: float) -> Outcome | None:
    for plan in _smaller_plans(failed.plan):
        for seed in range(failed.seed, failed.seed + SCHEDULES):
            if time.process_time() > deadline:
                return None
            outcome = simulator.run(seed, plan)
            if outcome.violation is not None:
                return outcome
    return None


def _smaller_plans(plan: Plan) -> Iterator[Plan]:
    """Yield plans with one thing less each, the largest things first."""
    clients, events = plan.clients, plan.events
    if plan.fault_probability:
        yield replace(plan, fault_probability=0.0)
    if plan.nodes > 1:
        yield replace(plan, nodes=1, events=tuple(each for each in events if each.kind != "other node"))
    if events:
        yield replace(plan, events=())
    for number in range(len(clients)):
        yield replace(plan, clients=(*clients[:number], *clients[number + 1 :]))
    if plan.processes > 1 and all(each.process < plan.processes - 1 for each in clients):
        left = tuple(each for each in events if each.kind not in ("crash", "other node"))
        yield replace(plan, processes=plan.processes - 1, events=left)
    for number in range(len(events)):
        yield replace(plan, events=(*events[:number], *events[number + 1 :]))
    for number, client in enumerate(clients):
        for step in range(len(client.steps)):
            fewer = replace(client, steps=(*client.steps[:step], *client.steps[step + 1 :]))
            yield replace(plan, clients=(*clients[:number], fewer, *clients[number + 1 :]))


def _fewer_decisions(simulator: Simulator, failed: Outcome, deadline: float) -> Mapping[int, int]:
    """Leave out decisions, in halves, quarters and so on, as long as a rule is violated."""
    taken = dict(failed.taken)
    size = max(len(taken) // 2, 1)
    while True:
        numbers = sorted(taken)
        for start in range(0, len(numbers), size):
            if time.process_time() > deadline:
                return taken
            removed = set(numbers[start : start + size])
            fewer = {number: value for number, value in taken.items() if number not in removed}
            outcome = simulator.run(failed.seed, failed.plan, fewer)
            if outcome.violation is not None:
                taken = dict(outcome.taken)
                break
        else:
            if size == 1:
                return taken
            size = max(size // 2, 1)
