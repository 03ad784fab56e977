# SPDX-License-Identifier: Apache-2.0

"""Explain why a request has no candidates: find the first filter or rule that removes the last provider.

Plans the request again, this time with filter counts, and stops at the same group as the search.
"""

from __future__ import annotations

from plimsoll.domain.world import World
from plimsoll.search import filters
from plimsoll.search.budget import Budget
from plimsoll.search.combine.rules import rules_of
from plimsoll.search.filters import FilterCounts
from plimsoll.search.index.index import Index
from plimsoll.search.plan import NameMissing, Plan, allowed_roots, plan_group, plan_request
from plimsoll.search.request import CandidatesRequest, Group


def obstacle(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> str:
    """Return the reason why the search for this request found no candidates. Raises BudgetExceeded."""
    if not index.live:
        return "there are no resource providers"
    roots = allowed_roots(world, index, request)
    if isinstance(roots, NameMissing) or not roots:
        return "no root provider meets root_required"
    parts: list[Plan] = []
    anchors = roots
    for group in request.groups:
        counts: FilterCounts = []
        part = plan_group(world, index, group, roots, {}, counts)
        budget.check()
        if isinstance(part, NameMissing):
            return "no combination of providers serves the groups before " + _named(group)
        if part is None:
            return f"{_named(group)}: {_obstacle_of_group(world, index, group, counts)}"
        anchors &= part.anchors
        if not anchors:
            return f"no tree of providers serves {_named(group)} and the groups before it"
        parts.append(part)
    plan = plan_request(index, request, parts, budget)
    if plan is None:
        return "no tree of providers has room for all groups together"
    rules = ", ".join(dict.fromkeys(rule.name for rule, _ in rules_of(plan)))
    return f"no combination of providers meets all rules between the groups ({rules})"


def _obstacle_of_group(world: World, index: Index, group: Group, counts: FilterCounts) -> str:
    wanted = group.conditions
    if wanted.member_of and not filters.rows_matching_member_of(index, wanted.member_of):
        return f"no provider {filters.MemberOf(wanted.member_of).describe()}"
    if wanted.in_tree is not None and world.provider(wanted.in_tree) is None:
        return f"there is no provider {wanted.in_tree} (in_tree)"
    providers = index.live.bit_count()
    for count in counts:
        if count.before and not count.after:
            left = (
                "no provider" if count.before == providers else f"none of the providers left ({count.before})"
            )
            return f"{left} {count.step.describe()}"
    return "no tree of providers has all of it"


def _named(group: Group) -> str:
    return f"group {group.suffix!r}" if group.suffix else "the group without suffix"
