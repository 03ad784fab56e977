# SPDX-License-Identifier: Apache-2.0

"""How many instances fit equals the best order of claims if it is called exact, and is never above it.

`python -m tests.property.search.test_fit 10000` runs as many random cases; a second number is the first seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import Provider
from plimsoll.search import copies
from plimsoll.search.budget import Budget
from plimsoll.search.fit import Fit, fit
from plimsoll.search.index.index import Index
from plimsoll.search.repeated_search import RepeatedSearch, hosts_of
from plimsoll.search.request import CandidatesRequest
from tests.property.search import model
from tests.property.search.clouds import Case, device_case, random_case, world_of

MAX_STATES = 300
"""States of a cloud that are compared at most; larger cases are left out."""


class TooManyStates(Exception):
    """The model would take too long."""


def most_claims(providers: list[Provider], request: CandidatesRequest, known: dict[object, int]) -> int:
    """Return the largest number of instances that can be claimed one after the other, by trying all orders."""
    state = tuple(tuple(sorted(each.used.items())) for each in providers)
    if state not in known:
        if len(known) > MAX_STATES:
            raise TooManyStates
        known[state] = 0
        for served in {served for served, _ in model.candidates(world_of(providers), request)}:
            used = {each.uuid: dict(each.used) for each in providers}
            for uuid, name, amount in served:
                used[uuid][name] = used[uuid].get(name, 0) + amount
            after = [replace(each, used=used[each.uuid]) for each in providers]
            known[state] = max(known[state], 1 + most_claims(after, request, known))
    return known[state]


def computed(providers: list[Provider], request: CandidatesRequest) -> Fit:
    index = Index.build(providers)
    search = RepeatedSearch(world_of(providers), Budget())
    found = search.find(copies.emptied(index), request, None)
    hosts = np.zeros(0, np.int64) if found is None else hosts_of(index, found)
    return fit(search, index, request, hosts)


def any_case(random: Random) -> Case:
    """Trees, sharing providers, devices, or single providers."""
    kind = random.choice(["tree", "device", "flat"])
    providers, request = (device_case if kind == "device" else random_case)(random)
    if kind == "flat":
        providers = [
            replace(each, parent=None, root=each.uuid, traits=each.traits - {"MISC_SHARES_VIA_AGGREGATE"})
            for each in providers
        ]
    return providers, request


def check(case: Case) -> str:
    """Compare with the model; return what kind of result it was."""
    providers, request = case
    found = computed(providers, request)
    try:
        most = most_claims(providers, request, {})
    except TooManyStates:
        return "left out"
    assert found.is_complete
    assert found.instances <= most
    assert (found.instances > 0) == (most > 0) == (found.hosts > 0)
    assert not found.is_exact or found.instances == most
    if Index.build(providers).flat:
        assert found.is_exact
    return "exact" if found.is_exact else "lower bound"


@settings(max_examples=300, deadline=None)
@given(random=st.randoms(use_true_random=True))
def test_as_many_instances_fit_as_in_the_best_order_of_claims(random: Random) -> None:
    check(any_case(random))


def main(runs: int, first: int = 0) -> None:
    kinds = Counter(check(any_case(Random(seed))) for seed in range(first, first + runs))
    print(f"{runs} requests: {dict(kinds)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
