# SPDX-License-Identifier: Apache-2.0

"""The rules between slots as clauses: each rule alone, and all of them together.

A rule is evaluated at the hosts where each of its slots has an option. It is met there if the slots of the rule can be
filled so that this rule holds; the other slots and rules are left out. The search itself applies all rules at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from plimsoll.domain.values import unhashable_value
from plimsoll.search.combine.exists import anchors_with_choice
from plimsoll.search.combine.rules import RULES, Rule
from plimsoll.search.explain.clause_sets import ClauseSets, GroupClauses
from plimsoll.search.explain.query_text import listed
from plimsoll.search.index.bitset import RowSet, union
from plimsoll.search.plan import Plan
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.slots import Slot, Supply

RULES_TOGETHER = "rules_together"
TRAITS_TOGETHER = "traits_together"
GROUPS_CAPACITY = "groups_capacity"


@unhashable_value
class RuleClause:
    """One rule of a plan."""

    reason: str
    asked: str
    slots: tuple[int, ...]
    only: Plan
    """A plan of the slots of the rule, with this rule alone. Its anchors are those of the whole plan."""
    without: Plan
    """The whole plan without this rule."""


def plan_of(found: GroupClauses, request: CandidatesRequest) -> Plan:
    """Return the plan of all slots at all hosts where each slot has an option and each required trait occurs."""
    slots = [
        Slot(sets.suffix, sets.resources, supply)
        for sets, supply in zip(found.slots, found.supplies, strict=True)
    ]
    plan = Plan(
        slots=tuple(slots),
        anchors=found.hosts.all,
        required_traits=tuple(found.required_traits),
        isolated=request.is_isolated,
        subtrees=request.same_subtrees,
        one_per_tree=not request.nested and bool(found.hosts.index.children),
    )
    return replace(plan, anchors=_served(plan, found.hosts.all))


def with_slots(plan: Plan, supplies: dict[int, Supply], dropped: dict[int, str]) -> Plan:
    """Return a plan with other supplies of some slots, and without a resource class in some slots."""
    slots = list(plan.slots)
    for number, supply in supplies.items():
        slots[number] = replace(slots[number], supply=supply)
    for number, name in dropped.items():
        rest = {each: amount for each, amount in slots[number].resources.items() if each != name}
        slots[number] = replace(slots[number], resources=rest)
    return replace(plan, slots=tuple(slots))


def _served(plan: Plan, hosts: RowSet) -> RowSet:
    """Return those of the hosts at which each slot has an option."""
    return reduce(and_, [slot.supply.anchors for slot in plan.slots], hosts)


def hosts_with_choice(found: GroupClauses, plan: Plan, hosts: RowSet) -> RowSet:
    """Return those of the hosts at which the plan has a choice. Raises BudgetExceeded."""
    here = replace(plan, anchors=_served(plan, hosts))
    return anchors_with_choice(found.hosts.index, here, found.hosts.budget)


def rules_in(plan: Plan) -> Iterator[RuleClause]:
    """Yield the rules that apply to a plan, in the order in which the search applies them."""
    bare = replace(plan, isolated=False, subtrees=(), required_traits=(), one_per_tree=False)
    contended = frozenset(plan.contended())
    bare = replace(bare, contention_ignored=contended)
    for rule in RULES:
        yield from _CLAUSES_OF[rule.name](rule, plan, bare, contended)


def _isolation(rule: Rule, plan: Plan, bare: Plan, contended: frozenset[str]) -> Iterator[RuleClause]:
    for scope in rule.scopes(plan):
        only = replace(_part(bare, scope.slots), isolated=True)
        asked = "group_policy=isolate"
        yield RuleClause("isolate", asked, scope.slots, only, replace(plan, isolated=False))


def _capacity(rule: Rule, plan: Plan, bare: Plan, contended: frozenset[str]) -> Iterator[RuleClause]:
    for scope in rule.scopes(plan):
        name = scope.resource_class
        only = replace(_part(bare, scope.slots), contention_ignored=contended - {name})
        amounts = [plan.slots[number].resources[name] for number in scope.slots]
        asked = f"{name}:{' + '.join(map(str, amounts[:5]))}{' + ...' if len(amounts) > 5 else ''}"
        without = replace(plan, contention_ignored=frozenset([name]))
        yield RuleClause(GROUPS_CAPACITY, asked, scope.slots, only, without)


def _one_per_tree(rule: Rule, plan: Plan, bare: Plan, contended: frozenset[str]) -> Iterator[RuleClause]:
    for scope in rule.scopes(plan):
        if len(scope.slots) > 1:
            only = replace(_part(bare, scope.slots), one_per_tree=True)
            asked = "one provider per tree, at this microversion"
            yield RuleClause("one_per_tree", asked, scope.slots, only, replace(plan, one_per_tree=False))


def _traits(rule: Rule, plan: Plan, bare: Plan, contended: frozenset[str]) -> Iterator[RuleClause]:
    for scope in list(rule.scopes(plan))[:1]:
        only = replace(_part(bare, scope.slots), required_traits=plan.required_traits)
        asked = "required traits on the providers that serve the group without suffix"
        yield RuleClause(TRAITS_TOGETHER, asked, scope.slots, only, replace(plan, required_traits=()))


def _subtrees(rule: Rule, plan: Plan, bare: Plan, contended: frozenset[str]) -> Iterator[RuleClause]:
    for number, suffixes in enumerate(plan.subtrees):
        for scope in rule.scopes(replace(plan, subtrees=(suffixes,))):
            only = replace(_part(bare, scope.slots), subtrees=(suffixes,))
            rest = (*plan.subtrees[:number], *plan.subtrees[number + 1 :])
            asked = f"same_subtree={listed(suffixes).replace(', ', ',')}"
            yield RuleClause("same_subtree", asked, scope.slots, only, replace(plan, subtrees=rest))


_CLAUSES_OF = {
    "group_policy=isolate": _isolation,
    "capacity": _capacity,
    "one provider per tree": _one_per_tree,
    "required traits": _traits,
    "same_subtree": _subtrees,
}


def _part(plan: Plan, slots: Sequence[int]) -> Plan:
    return replace(plan, slots=tuple([plan.slots[number] for number in slots]))


def evaluate_rules(
    found: GroupClauses, rules: Sequence[RuleClause], served: RowSet, with_choice: RowSet
) -> list[ClauseSets]:
    """Return the clauses of the rules. `served`: hosts that fail no clause before; `with_choice`: those with a choice."""
    clauses: list[ClauseSets] = []
    traitless = union(clause.failed for clause in found.clauses if clause.trait_item is not None)
    for rule in rules:
        hosts = _served(rule.only, found.hosts.all)
        if rule.reason == TRAITS_TOGETHER:
            hosts &= ~traitless
        # Where all rules hold, each does; a single rule that does not hold is the reason that there is no choice.
        open_hosts = hosts & ~with_choice & (~served if len(rules) == 1 else -1)
        met = (hosts & with_choice) | hosts_with_choice(found, rule.only, open_hosts)
        clauses.append(ClauseSets(rule.reason, None, rule.asked, met, hosts & ~met, rule_slots=rule.slots))
        found.hosts.budget.check()
    if len(rules) > 1:
        together = served & ~union(clause.failed for clause in clauses)
        asked = "all rules between the groups at once"
        clauses.append(
            ClauseSets(RULES_TOGETHER, None, asked, together & with_choice, together & ~with_choice)
        )
    return clauses
