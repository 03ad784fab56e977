# SPDX-License-Identifier: Apache-2.0

"""Evaluate all clauses of a traced search, and count hosts: alone, left, sole obstacle, overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from plimsoll.search.explain.clause_sets import ONE_PROVIDER, SHARING, ClauseSets, GroupClauses, group_clauses
from plimsoll.search.explain.explanation import Overlap
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.explain.rule_clauses import (
    RULES_TOGETHER,
    RuleClause,
    evaluate_rules,
    hosts_with_choice,
    plan_of,
    rules_in,
    with_slots,
)
from plimsoll.search.filters import HasInventory
from plimsoll.search.index.bitset import NONE, RowSet, union
from plimsoll.search.plan import Plan
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.trace import Trace

_OF_ROOM = ("max_unit", "capacity", "used")
"""Parts of the capacity rule that the rule about several groups on one provider checks too."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All clauses of a request as sets of hosts."""

    groups: GroupClauses
    clauses: list[ClauseSets]
    rules: list[RuleClause]
    plan: Plan
    served: RowSet
    """The hosts that fail no clause of a provider, apart from those of the root."""
    with_choice: RowSet
    """The served hosts at which all rules hold together."""
    found: RowSet
    """The hosts with candidates."""
    left: list[RowSet]
    """The hosts left after each clause."""

    @property
    def hosts(self) -> Hosts:
        return self.groups.hosts


def evaluate(hosts: Hosts, request: CandidatesRequest, trace: Trace) -> Evaluation:
    """Evaluate each clause at each host. Raises BudgetExceeded."""
    groups = group_clauses(hosts, request, trace.roots, trace.groups)
    plan = plan_of(groups, request)
    failed_groups = union(clause.failed for clause in groups.clauses if not clause.is_of_root)
    failed_roots = union(clause.failed for clause in groups.clauses if clause.is_of_root)
    served = plan.anchors & ~failed_groups
    with_choice = hosts_with_choice(groups, plan, served)
    rules = list(rules_in(plan))
    clauses = [*groups.clauses, *evaluate_rules(groups, rules, served, with_choice)]
    found = with_choice & ~failed_roots
    left = [
        *accumulate(
            (clause.failed for clause in clauses), lambda some, failed: some & ~failed, initial=hosts.all
        )
    ]
    assert found == left[-1], "a host without obstacle"
    return Evaluation(groups, clauses, rules, plan, served, with_choice, found, left[1:])


def overlaps(clauses: Sequence[ClauseSets], hosts: Hosts) -> list[Overlap | None]:
    """Return, for each clause, the other clause that fails at most of the same hosts."""
    best: list[Overlap | None] = [None] * len(clauses)
    failing = [number for number, clause in enumerate(clauses) if clause.failed]
    for place, one in enumerate(failing):
        for other in failing[place + 1 :]:
            common = (clauses[one].failed & clauses[other].failed).bit_count()
            hosts.budget.spend()
            for number, partner in ((one, other), (other, one)):
                known = best[number]
                if common and (known is None or common > known.hosts):
                    best[number] = Overlap(partner + 1, common)
    return best


def sole_obstacles(evaluation: Evaluation) -> list[RowSet]:
    """Return, for each clause, the hosts that have candidates if only this clause is removed. Raises BudgetExceeded."""
    return _Removals(evaluation).all()


class _Removals:
    """Removes one clause after the other, and searches the hosts that fail no other clause of a single provider."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.hosts = evaluation.hosts
        self.groups = evaluation.groups
        self.contended = evaluation.plan.contended().keys()
        self.once = self.twice = NONE
        for clause in evaluation.clauses:
            if clause.step is not None:
                self.twice |= self.once & clause.failed
                self.once |= clause.failed

    def all(self) -> list[RowSet]:
        found = []
        rules = iter(enumerate(self.evaluation.rules))
        for clause in self.evaluation.clauses:
            self.hosts.budget.check()
            if clause.step is not None:
                found.append(self._without_clause(clause))
            elif clause.reason in (ONE_PROVIDER, RULES_TOGETHER):
                found.append(self._only_failed(clause))
            else:
                found.append(self._without_rule(*next(rules)))
        return found

    def _only_failed(self, clause: ClauseSets) -> RowSet:
        others = union(other.failed for other in self.evaluation.clauses if other is not clause)
        return clause.failed & ~others

    def _without_clause(self, clause: ClauseSets) -> RowSet:
        """Return the hosts that fail this clause alone, or none, and have a choice without it."""
        alone = clause.failed & ~self.twice
        if clause.is_of_root:
            return alone & self.evaluation.with_choice
        is_missing = isinstance(clause.step, HasInventory) and clause.reason != SHARING
        if self.hosts.index.flat and not self.evaluation.rules and not is_missing:
            return alone  # the host is the only provider: without this clause it meets all
        hosts = self.hosts.all & (alone | ~self.once) & ~self.evaluation.found
        if not hosts:
            return NONE
        plan = self.evaluation.plan
        if clause.trait_item is not None:
            kept = list(plan.required_traits)
            del kept[clause.trait_item]
            return hosts_with_choice(self.groups, replace(plan, required_traits=tuple(kept)), hosts)
        if clause.reason in _OF_ROOM and clause.resource_class in self.contended:
            return NONE  # the rule about the amounts of several groups on one provider forbids the same
        hosts &= alone if is_missing else self._changed(clause)
        if not hosts:
            return NONE
        supplies, dropped = {}, {}
        for number, step in clause.steps:
            slot = self.groups.slots[number]
            removed = frozenset([step])
            if clause.reason == SHARING:
                supplies[number] = slot.supply(serves_all=True)
                continue
            if is_missing:
                assert clause.resource_class is not None
                removed = slot.parts_of(clause.resource_class)
                dropped[number] = clause.resource_class
            supplies[number] = slot.supply(removed)
        return hosts_with_choice(self.groups, with_slots(plan, supplies, dropped), hosts)

    def _changed(self, clause: ClauseSets) -> RowSet:
        """Return the hosts at which removing the clause gives more options."""
        if clause.reason == SHARING:
            return clause.failed
        return union(self.groups.slots[slot].changed_hosts(frozenset([step])) for slot, step in clause.steps)

    def _without_rule(self, number: int, rule: RuleClause) -> RowSet:
        evaluation = self.evaluation
        hosts = evaluation.served & ~evaluation.with_choice & ~self.once
        rules = evaluation.rules
        if len(rules) == 1:
            return hosts
        if len(rules) == 2:
            other = evaluation.clauses[len(self.groups.clauses) + 1 - number]
            return hosts & other.met
        return hosts_with_choice(self.groups, rule.without, hosts)
