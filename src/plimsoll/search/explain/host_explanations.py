# SPDX-License-Identifier: Apache-2.0

"""Explain single hosts: all obstacles of a host, and which hosts are shown as examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.search import filters
from plimsoll.search.explain import facts, failure_text
from plimsoll.search.explain.clause_sets import ONE_PROVIDER, ClauseSets
from plimsoll.search.explain.evaluate import Evaluation
from plimsoll.search.explain.explanation import HostExplanation, Obstacle
from plimsoll.search.explain.slot_sets import PARTS
from plimsoll.search.index.bitset import NONE, RowSet, numbers_of

MAX_EXAMPLES = 5
_MAX_LACKING = 3
"""Clauses that the nearest provider of a host fails and that are named."""

_MAX_OPTIONS = 4
"""Groups of a rule that are named, and providers that can serve each."""


def nearest_hosts(evaluation: Evaluation, at: RowSet, most: int = MAX_EXAMPLES) -> list[int]:
    """Return the first of these hosts: fewest obstacles first, then the smallest shortfall, then the order of rows."""
    found: list[int] = []
    for hosts in _by_obstacles(evaluation, at):
        found += _nearest(evaluation, hosts, most - len(found))
        if len(found) == most:
            break
    return found


def _by_obstacles(evaluation: Evaluation, at: RowSet) -> Iterator[RowSet]:
    """Yield the hosts with one obstacle, with two, and so on."""
    at_least: list[RowSet] = []
    """At place n: the hosts with more than n obstacles."""
    for clause in evaluation.clauses:
        failed = clause.failed & at
        for place, hosts in enumerate(at_least):
            if not failed:
                break
            at_least[place], failed = hosts | failed, hosts & failed
            evaluation.hosts.budget.spend()
        if failed:
            at_least.append(failed)
    for hosts, more in zip(at_least, [*at_least[1:], NONE], strict=True):
        yield hosts & ~more


def _nearest(evaluation: Evaluation, at: RowSet, most: int) -> list[int]:
    """Return the hosts with the smallest shortfall."""
    if not at:
        return []
    size = evaluation.hosts.index.size
    numbers = numbers_of(at, size)
    missing_by_row = np.zeros(size)
    for clause in evaluation.clauses if len(numbers) > 1 else ():
        if isinstance(clause.step, PARTS) and clause.failed & at:
            missing_by_row += facts.shortfalls(evaluation.hosts, clause.step, clause.failed & at)
            evaluation.hosts.budget.check()
    missing = missing_by_row[numbers]
    nearest: list[int] = []
    while len(nearest) < most and len(numbers):  # cheaper than sorting all hosts
        is_next = missing == missing.min()
        nearest += numbers[is_next][: most - len(nearest)].tolist()
        numbers, missing = numbers[~is_next], missing[~is_next]
    return nearest


def explain_host(evaluation: Evaluation, host: int) -> HostExplanation:
    """Return a host with all its obstacles."""
    provider = evaluation.hosts.index.provider(host)
    rows = facts.rows_at(evaluation.hosts, host)
    obstacles = tuple(
        [
            _obstacle(evaluation, number, clause, rows)
            for number, clause in enumerate(evaluation.clauses, start=1)
            if clause.failed >> host & 1
        ]
    )
    return HostExplanation(provider.uuid, provider.name, obstacles)


def _obstacle(evaluation: Evaluation, number: int, clause: ClauseSets, rows: list[int]) -> Obstacle:
    evaluation.hosts.budget.spend(len(rows))
    index, step = evaluation.hosts.index, clause.step
    if isinstance(step, PARTS) and not isinstance(step, filters.HasInventory):
        near = facts.nearest(evaluation.hosts, step, rows)
        assert near is not None, "a clause about an inventory at a host without it"
        inventory = facts.facts_of(near, step.resource_class, step.amount)
        text, nearest = failure_text.with_facts(step, inventory), (near.uuid, near.name)
        return Obstacle(number, clause.reason, clause.group, text, nearest, inventory)
    text, provider = failure_text.predicate(clause, None, many=False), None
    if isinstance(step, filters.LacksTraits):
        traits = frozenset[str]().union(*(each.traits for each in index.providers(rows)))
        text = failure_text.of_forbidden_traits(step, traits)
    elif clause.reason == ONE_PROVIDER:
        lacking = _lacking(evaluation, clause, rows)
        if lacking is not None:
            text, provider = f"{text}: {lacking[0]}", lacking[1]
    elif clause.rule_slots:
        text = f"{text}: {_options(evaluation, clause, rows)}"
    return Obstacle(number, clause.reason, clause.group, text, provider, None)


def _options(evaluation: Evaluation, clause: ClauseSets, rows: list[int]) -> str:
    """Return which providers of a host can serve the slots of a rule."""
    by_options: dict[tuple[int, ...], list[str]] = {}
    for number in clause.rule_slots:
        slot = evaluation.plan.slots[number]
        options = [row for row in rows if slot.supply.rows >> row & 1 or row in slot.supply.sharing_providers]
        by_options.setdefault(tuple(options), []).append(slot.suffix or "/".join(slot.resources))
        evaluation.hosts.budget.spend(len(rows))
    words = [
        f"{_first(suffixes)} on {_first([each.name for each in evaluation.hosts.index.providers(options)])}"
        for options, suffixes in by_options.items()
    ]
    return _first(words, "; ")


def _first(words: Sequence[str], between: str = ", ") -> str:
    """Join the first words, and count the others."""
    more = len(words) - _MAX_OPTIONS
    return between.join(words[:_MAX_OPTIONS]) + (f" and {more} more" if more > 0 else "")


def _lacking(
    evaluation: Evaluation, clause: ClauseSets, rows: list[int]
) -> tuple[str, tuple[str, str]] | None:
    """Return what the nearest provider of a host lacks of a group that no single provider serves."""
    best: tuple[int, int, int] | None = None
    for number, slot in enumerate(evaluation.groups.slots):
        if slot.suffix != clause.group or any(slot.rows(frozenset())[0] >> row & 1 for row in rows):
            continue
        for row in rows:
            failing = sum(not sets.own >> row & 1 for sets in slot.steps)
            evaluation.hosts.budget.spend()
            if failing and (best is None or failing < best[0]):
                best = failing, number, row
    if best is None:
        return None
    _, number, row = best
    near = evaluation.hosts.index.provider(row)
    steps = evaluation.groups.slots[number].steps
    words = [
        failure_text.predicate(each, None, many=False)
        for each in evaluation.clauses
        if any(slot == number and not steps[step].own >> row & 1 for slot, step in each.steps)
    ]
    more = f" and {len(words) - _MAX_LACKING} more" if len(words) > _MAX_LACKING else ""
    return f"{near.name} {', '.join(words[:_MAX_LACKING])}{more}", (near.uuid, near.name)
