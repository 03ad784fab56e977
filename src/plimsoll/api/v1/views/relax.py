# SPDX-License-Identifier: Apache-2.0

"""Changes of a request, and conditions that are never met together, as JSON."""

from __future__ import annotations

from typing import Any

from plimsoll.api.placement.queries.changed_query import changed_query
from plimsoll.api.v1.views.relax_text import sentence
from plimsoll.search.explain.query_text import listed
from plimsoll.search.relax.changes import Relaxed, RequestChange
from plimsoll.search.relax.exclusions import Condition, Exclusion
from plimsoll.search.relax.relaxations import Relaxation
from plimsoll.search.request import CandidatesRequest


def relaxation(one: Relaxation, query: str, request: CandidatesRequest) -> dict[str, Any]:
    return {
        "text": sentence(one),
        "changes": list(map(_change, one.changes)),
        "query": changed_query(query, request, one.request),
        "hosts": one.found.hosts,
        "candidates": one.found.candidates,
        "is_exact": one.found.is_exact,
    }


def _change(change: RequestChange) -> dict[str, Any]:
    fields = {
        "group": change.suffix,
        "names": list(change.names) or None,
        "resource_class": change.resource_class,
        "amount": change.amount,
        "new_amount": change.new_amount,
    }
    return {"kind": change.kind.value} | {name: each for name, each in fields.items() if each is not None}


def exclusion(one: Exclusion) -> dict[str, Any]:
    return {
        "text": exclusion_text(one),
        "group": one.suffix,
        "conditions": [
            {"kind": each.kind.value, "names": list(each.names)} for each in (one.first, one.second)
        ],
        "by": one.by,
    }


def exclusion_text(one: Exclusion) -> str:
    group = f" (group {one.suffix})" if one.suffix else ""
    return f"No {one.by} has {_condition(one.first)} and {_condition(one.second)} together{group}."


def _condition(condition: Condition) -> str:
    one_of = "one of " if len(condition.names) > 1 else ""
    kind = "aggregate " if condition.kind is Relaxed.MEMBER_OF else ""
    return f"{one_of}{kind}{listed(condition.names)}"
