# SPDX-License-Identifier: Apache-2.0

"""Usual causes of a search without candidates: one sentence for each that some failing host has."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from plimsoll.domain.catalog import Catalog
from plimsoll.domain.provider import DISABLED_TRAIT
from plimsoll.domain.world import World
from plimsoll.search import filters
from plimsoll.search.explain import facts
from plimsoll.search.explain.evaluate import Evaluation
from plimsoll.search.explain.query_text import listed
from plimsoll.search.index.bitset import RowSet, numbers_of
from plimsoll.search.request import CandidatesRequest, Group

_MAX_NOTES = 12
_MAX_HOSTS = 3
_MAX_NEAR = 3


def notes(world: World, request: CandidatesRequest, evaluation: Evaluation) -> list[str]:
    """Return one sentence for each usual cause that some host without candidates has."""
    found = [
        *_disabled(evaluation),
        *_over_full(evaluation),
        *_without_inventory(evaluation),
        *(note for group in request.groups for note in _unknown(world, evaluation, group)),
    ]
    more = len(found) - _MAX_NOTES
    return found[:_MAX_NOTES] + ([f"{more} more notes are left out."] if more > 0 else [])


def near_names(name: str, catalog: Catalog) -> list[str]:
    """Return names of a catalog that are nearly this one."""
    return get_close_matches(name, catalog.by_name, n=_MAX_NEAR, cutoff=0.75)


def _named(evaluation: Evaluation, hosts: RowSet) -> str:
    """Return "2 hosts (a, b)" with the first names."""
    index = evaluation.hosts.index
    rows = numbers_of(hosts, index.size).tolist()
    names = ", ".join(provider.name for provider in index.providers(rows[:_MAX_HOSTS]))
    more = f" and {len(rows) - _MAX_HOSTS} more" if len(rows) > _MAX_HOSTS else ""
    return f"{len(rows)} host{'s' if len(rows) > 1 else ''} ({names}{more})"


def _disabled(evaluation: Evaluation) -> Iterator[str]:
    index = evaluation.hosts.index
    disabled = index.roots_of(index.with_trait(DISABLED_TRAIT))
    failing = 0
    for clause in evaluation.clauses:
        if isinstance(clause.step, filters.LacksTraits) and DISABLED_TRAIT in clause.step.traits:
            failing |= clause.failed & disabled
    if failing:
        yield (
            f"{_named(evaluation, failing)}: {DISABLED_TRAIT}. The compute service is disabled; enable it"
            " to use the host again."
        )


def _over_full(evaluation: Evaluation) -> Iterator[str]:
    index = evaluation.hosts.index
    failed: dict[str, RowSet] = {}
    for clause in evaluation.clauses:
        if isinstance(clause.step, filters.HasFree | filters.FitsCapacity) and clause.failed:
            name = clause.step.resource_class
            failed[name] = failed.get(name, 0) | clause.failed
    names_by_hosts: dict[RowSet, list[str]] = {}
    for name, hosts in failed.items():
        column = index.class_column(name)
        if over_full := index.roots_of(column.rows & ~column.rows_with_free(0)) & hosts:
            names_by_hosts.setdefault(over_full, []).append(name)
    for over_full, names in names_by_hosts.items():
        yield (
            f"{_named(evaluation, over_full)}: over-full, more {' and '.join(names)} is used than the capacity."
            " The inventory was reduced below its use, or another program wrote to the database."
        )


def _without_inventory(evaluation: Evaluation) -> Iterator[str]:
    if bare := facts.rows_without_any_inventory(evaluation.hosts) & ~evaluation.found:
        yield f"{_named(evaluation, bare)}: no inventory at all. Its compute service has not reported any."


def _unknown(world: World, evaluation: Evaluation, group: Group) -> Iterator[str]:
    """Yield names that do not exist: an empty result hides those of later groups from the Placement API."""
    wanted, index = group.conditions, evaluation.hosts.index
    aggregates = [each for any_of in wanted.member_of for each in any_of if not index.in_aggregate(each)]
    if aggregates:
        yield f"No provider is in aggregate {listed(aggregates)}."
    if wanted.in_tree is not None and world.provider(wanted.in_tree) is None:
        yield f"There is no provider {wanted.in_tree} (in_tree)."
    names = frozenset[str]().union(*wanted.required, wanted.forbidden)
    for kind, unknown, catalog in (
        ("trait", sorted(name for name in names if name not in world.traits), world.traits),
        ("resource class", [name for name in group.resources if name not in world.classes], world.classes),
    ):
        for name in unknown[:_MAX_NOTES]:
            near = near_names(name, catalog)
            yield f"There is no {kind} {name}." + (f" Near names: {', '.join(near)}." if near else "")
