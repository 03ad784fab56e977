# SPDX-License-Identifier: Apache-2.0

"""The query string of a changed request: the original one, with the parameters that differ written again."""

from __future__ import annotations

from urllib.parse import urlencode

from plimsoll.api.placement.queries.query import parse_query
from plimsoll.search.request import CandidatesRequest, Group

_SAFE = ":,!"
"""Characters of lists and amounts that stay readable."""


def changed_query(text: str, before: CandidatesRequest, after: CandidatesRequest) -> str:
    """Return the query string of `after`, where `text` is the query string of `before`.

    Unchanged parameters stay as they are. A parameter that has changed keeps its first place.
    """
    old, new = _parameters(before), _parameters(after)
    changed = {name: new.get(name, []) for name, values in old.items() if values != new.get(name, [])}
    pairs: list[tuple[str, str]] = []
    written: set[str] = set()
    for name, value in parse_query(text).pairs:
        if name not in changed:
            pairs.append((name, value))
        elif name not in written:
            written.add(name)
            pairs += [(name, changed_value) for changed_value in changed[name]]
    return urlencode(pairs, safe=_SAFE)


def _parameters(request: CandidatesRequest) -> dict[str, list[str]]:
    """Return the values of each parameter that a change may concern."""
    root = [*sorted(request.root_required), *[f"!{name}" for name in sorted(request.root_forbidden)]]
    parameters: dict[str, list[str]] = {
        "group_policy": [request.group_policy] if request.group_policy else [],
        "root_required": [",".join(root)] if root else [],
        "same_subtree": [",".join(sorted(subtree)) for subtree in request.same_subtrees],
    }
    for group in request.groups:
        wanted, suffix = group.conditions, group.suffix
        resources = [f"{name}:{amount}" for name, amount in group.resources.items()]
        parameters[f"resources{suffix}"] = [",".join(resources)] if resources else []
        parameters[f"required{suffix}"] = _traits(group)
        parameters[f"member_of{suffix}"] = _aggregates(group)
        parameters[f"in_tree{suffix}"] = [] if wanted.in_tree is None else [wanted.in_tree]
    return parameters


def _traits(group: Group) -> list[str]:
    wanted = group.conditions
    together = [name for any_of in wanted.required if len(any_of) == 1 for name in any_of]
    together += [f"!{name}" for name in sorted(wanted.forbidden)]
    several = ["in:" + ",".join(sorted(any_of)) for any_of in wanted.required if len(any_of) > 1]
    return [",".join(together), *several] if together else several


def _aggregates(group: Group) -> list[str]:
    wanted = group.conditions
    values = [_one_or_in(any_of) for any_of in wanted.member_of]
    return [*values, f"!{_one_or_in(wanted.not_member_of)}"] if wanted.not_member_of else values


def _one_or_in(names: frozenset[str]) -> str:
    return next(iter(names)) if len(names) == 1 else "in:" + ",".join(sorted(names))
