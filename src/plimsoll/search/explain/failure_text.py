# SPDX-License-Identifier: Apache-2.0

"""Texts for operators: why one host, or several, fail a clause."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.domain.provider import DISABLED_TRAIT
from plimsoll.search import filters
from plimsoll.search.explain.clause_sets import SHARING, ClauseSets
from plimsoll.search.explain.explanation import InventoryFacts
from plimsoll.search.explain.query_text import listed

_OF_RULES = {
    "isolate": (
        "has too few providers for groups that must not share one",
        "have too few providers for groups that must not share one",
    ),
    "groups_capacity": (
        "has no room for all groups together ({asked})",
        "have no room for all groups together ({asked})",
    ),
    "one_per_tree": (
        "can serve it only with several providers of its tree, which this microversion does not allow",
        "can serve it only with several providers of their tree, which this microversion does not allow",
    ),
    "traits_together": (
        "has the required traits, but not on the providers that have the resources",
        "have the required traits, but not on the providers that have the resources",
    ),
    "same_subtree": (
        "has the providers, but not in one subtree ({asked})",
        "have the providers, but not in one subtree ({asked})",
    ),
    "rules_together": (
        "meets each rule between the groups, but not all at once",
        "meet each rule between the groups, but not all at once",
    ),
    "one_provider": (
        "meets each clause, but not on one provider",
        "meet each clause, but not on one provider",
    ),
}


def predicate(clause: ClauseSets, best: int | None, *, many: bool) -> str:
    """Return what is wrong at hosts that fail a clause, after the number of hosts: "lack CUSTOM_X"."""
    if clause.step is None:
        return _OF_RULES[clause.reason][many].format(asked=clause.asked)
    if clause.is_of_root:
        return _of_root(clause, many)
    has, is_, lacks = ("have", "are", "lack") if many else ("has", "is", "lacks")
    match clause.step:
        case filters.HasTrait(any_of):
            return f"{lacks} {listed(any_of)}" if len(any_of) == 1 else f"{has} none of {listed(any_of)}"
        case filters.LacksTraits(traits) if traits == {DISABLED_TRAIT}:
            return f"{is_} disabled ({DISABLED_TRAIT})"
        case filters.LacksTraits(traits):
            return f"{has} a forbidden trait ({listed(traits)})"
        case filters.MemberOf():
            return f"{is_} outside the aggregates asked for"
        case filters.NotMemberOf():
            return f"{is_} in a forbidden aggregate"
        case filters.InTree():
            return f"{is_} outside the tree asked for"
        case filters.HasCondition():
            return "cannot serve a group without resources, required traits and aggregates"
        case filters.HasInventory(name) if clause.reason == SHARING:
            return f"{has} no {name} and no aggregate in common with a provider that shares it"
        case filters.HasInventory(name):
            return f"{has} no inventory of {name}"
        case filters.AboveMinUnit(name, amount):
            return f"{has} a min_unit above {amount} for {name}{_at(best, 'at least {} at a time')}"
        case filters.BelowMaxUnit(name, amount):
            return f"{has} a max_unit below {amount} for {name}{_at(best, 'at most {} at a time')}"
        case filters.MatchesStepSize(name, amount):
            return f"{has} a step_size of {name} that does not divide {amount}"
        case filters.FitsCapacity(name, amount):
            return f"{is_} too small for {name} ({amount} wanted{_best(best, ', at most {} in all')})"
        case filters.HasFree(name, amount):
            return f"{has} too little {name} ({amount} wanted{_best(best, ', at most {} free')})"
    raise AssertionError(f"a clause without words: {clause.reason}")


def _of_root(clause: ClauseSets, many: bool) -> str:
    root, lacks, has = ("roots that", "lack", "have") if many else ("a root that", "lacks", "has")
    verb = "have" if many else "has"
    match clause.step:
        case filters.HasTrait(any_of):
            return f"{verb} {root} {lacks} {listed(any_of)}"
        case filters.LacksTraits(traits):
            return f"{verb} {root} {has} a forbidden trait ({listed(traits)})"
    raise AssertionError(f"a clause of the root without words: {clause.reason}")


def _at(best: int | None, text: str) -> str:
    return "" if best is None else f" ({text.format(best)})"


def _best(best: int | None, text: str) -> str:
    return "" if best is None else text.format(max(best, 0))


def with_facts(step: filters.Part, facts: InventoryFacts) -> str:
    """Return what is wrong with one inventory, with its numbers."""
    name, wanted = facts.resource_class, facts.requested
    match step:
        case filters.AboveMinUnit():
            return f"{name}: {wanted} wanted, at least {facts.min_unit} at a time (min_unit)"
        case filters.BelowMaxUnit():
            return f"{name}: {wanted} wanted, at most {facts.max_unit} at a time (max_unit)"
        case filters.MatchesStepSize():
            return f"{name}: {wanted} wanted, only multiples of {facts.step_size} (step_size)"
        case filters.FitsCapacity():
            return (
                f"{name}: {wanted} wanted, capacity {facts.capacity} (total {facts.total},"
                f" reserved {facts.reserved}, ratio {facts.allocation_ratio:g})"
            )
    if facts.free < 0:
        return f"{name}: {wanted} wanted, over-full ({facts.used} used, capacity {facts.capacity})"
    return f"{name}: {wanted} wanted, {facts.free} of {facts.capacity} free, {facts.shortfall} missing"


def of_forbidden_traits(step: filters.LacksTraits, traits: Iterable[str]) -> str:
    """Return which of the forbidden traits a host has."""
    present = step.traits.intersection(traits)
    words = f"has the forbidden trait {listed(present)}"
    return f"{words} (its compute service is disabled)" if DISABLED_TRAIT in present else words
