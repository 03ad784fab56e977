# SPDX-License-Identifier: Apache-2.0

"""Each suggested change of a request, when carried out, gives exactly the hosts and candidates of the suggestion.

`python -m tests.property.search.test_relax 10000` runs as many random cases; a second number is the first seed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from random import Random

from hypothesis import assume, given, settings

from plimsoll.domain.world import World
from plimsoll.search.budget import Budget
from plimsoll.search.index.index import Index
from plimsoll.search.relax.changes import Relaxed, RequestChange, apply, is_valid, removals
from plimsoll.search.relax.relaxations import MAX_PAIRED, Relaxation, relax
from plimsoll.search.repeated_search import MAX_COUNTED, RepeatedSearch
from plimsoll.search.request import CandidatesRequest
from tests.property.search import model
from tests.property.search.clouds import Case, cases, device_case, random_case, world_of


def is_served(world: World, request: CandidatesRequest) -> bool:
    return bool(model.candidates(world, request))


def changes_of(found: tuple[Relaxation, ...]) -> list[set[RequestChange]]:
    return [set(each.changes) for each in found]


def check(case: Case) -> bool:
    """Compare all changes with the model. Return whether the request was one without candidates."""
    world, request = world_of(case[0]), case[1]
    if is_served(world, request) or not is_valid(request):
        return False
    relaxed = relax(RepeatedSearch(world, Budget()), Index.build(case[0]), request)
    assert relaxed.is_complete or len(list(removals(request))) > MAX_PAIRED
    for each in relaxed.found:
        check_entry(world, request, each)
    check_minimal(relaxed.found)
    expected = [{each} for each in removals(request) if is_served(world, apply(request, each))]
    assert [each for each in expected if each not in changes_of(relaxed.found)] == []
    return True


def check_entry(world: World, request: CandidatesRequest, entry: Relaxation) -> None:
    assert entry.request == apply(request, *entry.changes)
    assert is_valid(entry.request)
    candidates = model.candidates(world, entry.request)
    counted = min(len(candidates), MAX_COUNTED)
    assert (entry.found.candidates, entry.found.is_exact) == (counted, len(candidates) < MAX_COUNTED)
    roots = [each for each in world.providers.values() if each.parent is None]
    assert entry.found.hosts == sum(model.has_candidates_at(world, each, entry.request) for each in roots) > 0
    # An amount in between, or one of two changes alone, has no candidates.
    for change in entry.changes:
        others = [other for other in entry.changes if other != change]
        if others:
            assert not is_served(world, apply(request, *others))
        if change.kind is Relaxed.AMOUNT:
            assert change.new_amount is not None
            assert change.amount is not None
            nearest = sorted([change.amount, change.new_amount])
            for amount in range(nearest[0] + 1, nearest[1]):
                more = replace(change, new_amount=amount)
                assert not is_served(world, apply(request, *others, more))


def check_minimal(found: tuple[Relaxation, ...]) -> None:
    for one in found:
        for other in found:
            if one is not other:
                assert not set(one.changes) <= set(other.changes)


@settings(max_examples=400, deadline=None)
@given(case=cases())
def test_each_change_gives_the_stated_hosts_and_is_minimal(case: Case) -> None:
    assume(check(case))


def main(runs: int, first: int = 0) -> None:
    unserved = 0
    for seed in range(first, first + runs):
        random = Random(seed)
        unserved += check((random_case, device_case)[seed % 2](random))
    print(f"{runs} requests, {unserved} without candidates: every change gave what it said.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
