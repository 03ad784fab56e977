# SPDX-License-Identifier: Apache-2.0

"""The part of the query from which each clause comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.search import filters
from plimsoll.search.filters import Filter
from plimsoll.search.request import Group

MAX_NAMES = 5
"""Names that are listed; of more, only the number is given."""


def listed(names: Iterable[str]) -> str:
    """Join the first names with commas, and count the others."""
    known = sorted(names)
    more = len(known) - MAX_NAMES
    return ", ".join(known[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def of_filter(step: Filter, suffix: str, resources: Mapping[str, int] | None = None) -> str:
    """Return the part of the query that a filter comes from."""
    match step:
        case filters.HasTrait(any_of):
            return f"required{suffix}={_one_or_any(any_of)}"
        case filters.LacksTraits(traits):
            return f"required{suffix}={_values(f'!{name}' for name in traits)}"
        case filters.MemberOf(member_of):
            items = [f"member_of{suffix}={_one_or_any(any_of)}" for any_of in member_of[:MAX_NAMES]]
            more = len(member_of) - MAX_NAMES
            return "&".join(items) + (f" and {more} more" if more > 0 else "")
        case filters.NotMemberOf(aggregates):
            return f"member_of{suffix}=!{_one_or_any(aggregates)}"
        case filters.InTree(uuid):
            return f"in_tree{suffix}={uuid}"
        case filters.HasCondition():
            return f"a group {suffix} without resources, required traits and aggregates"
        case filters.HasInventory(name):
            return f"resources{suffix}={name}:{(resources or {}).get(name)}"
        case (
            filters.AboveMinUnit(name, amount)
            | filters.BelowMaxUnit(name, amount)
            | filters.MatchesStepSize(name, amount)
            | filters.FitsCapacity(name, amount)
            | filters.HasFree(name, amount)
        ):
            return f"resources{suffix}={name}:{amount}"
    raise AssertionError(f"a filter without words: {step}")


def of_root_filter(step: Filter) -> str:
    match step:
        case filters.HasTrait(any_of):
            return f"root_required={_values(any_of)}"
        case filters.LacksTraits(traits):
            return f"root_required={_values(f'!{name}' for name in traits)}"
    raise AssertionError(f"a condition of the root without words: {step}")


def of_one_provider(group: Group) -> str:
    if group.suffix:
        return f"one provider for all of group {group.suffix}"
    if len(group.resources) == 1:
        return "one provider for all of the group without suffix"
    return "one provider per resource class of the group without suffix"


def _values(names: Iterable[str]) -> str:
    return listed(names).replace(", ", ",")


def _one_or_any(names: frozenset[str]) -> str:
    return _values(names) if len(names) == 1 else f"in:{_values(names)}"
