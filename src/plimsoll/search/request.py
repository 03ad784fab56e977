# SPDX-License-Identifier: Apache-2.0

"""The input of a search, independent of query strings and microversions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from plimsoll.domain.values import unhashable_value, value

AnyOf = frozenset[str]
"""A set of names of which a provider must have at least one."""


class Conditions(NamedTuple):
    """The conditions on a provider: traits, aggregates, tree. Every item of a tuple must be met."""

    required: tuple[AnyOf, ...] = ()
    forbidden: frozenset[str] = frozenset()
    member_of: tuple[AnyOf, ...] = ()
    not_member_of: frozenset[str] = frozenset()
    in_tree: str | None = None
    """The uuid of any provider of the wanted tree."""


NO_CONDITIONS = Conditions()


@unhashable_value
class Group:
    """A request group: resources and conditions. A group with a suffix is served by exactly one provider."""

    suffix: str
    resources: Mapping[str, int]
    conditions: Conditions = NO_CONDITIONS

    @property
    def one_provider(self) -> bool:
        return self.suffix != ""


@unhashable_value
class CandidatesRequest:
    """A search for sets of providers that serve all groups at once.

    Groups are in the order of the client's request: names are looked up group by group, and a group that no
    provider can serve ends the search before the names of the next group are looked up.
    """

    groups: tuple[Group, ...]
    limit: int | None = None
    group_policy: Literal["none", "isolate"] | None = None
    root_required: frozenset[str] = frozenset()
    root_forbidden: frozenset[str] = frozenset()
    same_subtrees: tuple[frozenset[str], ...] = ()
    nested: bool = True
    """False for microversions before nested providers: no candidate uses two providers of one tree."""

    @property
    def is_isolated(self) -> bool:
        """Whether isolation concerns at least two groups."""
        return self.group_policy == "isolate" and sum(group.one_provider for group in self.groups) > 1


@unhashable_value
class ProvidersRequest:
    """A search for single providers. An empty request matches all providers."""

    uuid: str | None = None
    name: str | None = None
    conditions: Conditions = NO_CONDITIONS
    resources: Mapping[str, int] = field(default_factory=dict)


@value
class Order:
    """Order and bounds of the candidates. An argument, so that a search is deterministic."""

    max_candidates: int | None = None
    """Upper bound for every request, set by the operator; a lower limit in the request still applies."""
    max_candidates_without_limit: int | None = None
    """Upper bound for requests without a limit; further candidates are dropped."""
    strategy: Literal["depth-first", "breadth-first"] = "depth-first"
    shuffle_seed: int | None = None
    """Seed of the shuffle. None keeps the order of the providers."""
