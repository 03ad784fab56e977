# SPDX-License-Identifier: Apache-2.0

"""The JSON of candidates is the same with and without the fast path `json_cache`, in each version that changed it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.api.placement.microversion import VERSIONS
from plimsoll.api.placement.views.candidates import candidates
from plimsoll.fast_paths import FastPaths
from plimsoll.search import result
from plimsoll.search.find import find_candidates
from plimsoll.search.index.index import Index
from plimsoll.search.request import Order
from plimsoll.search.result import Candidates
from tests.property.search.clouds import Case, cases, world_of

PLAIN = FastPaths.without(["json_cache"])


@pytest.mark.parametrize("large", [False, True])
@settings(max_examples=60, deadline=None)
@given(case=cases(), minor=st.sampled_from([10, 12, 17, 27, 29, 34, 39]))
def test_cached_and_plain_json_are_equal(large: bool, case: Case, minor: int) -> None:
    providers, request = case
    found = find_candidates(world_of(providers), Index.build(providers), request, Order())
    assert isinstance(found, Candidates)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(result, "LARGE_ENTRIES", 0)
            patch.setattr(result, "PIECE_ENTRIES", 6)
        for _ in range(2):  # the second time from the cache
            cached = candidates(found, request, VERSIONS[minor])
            plain = candidates(found, request, VERSIONS[minor], fast_paths=PLAIN)
            assert json.loads(cached) == json.loads(plain)
    assert len(json.loads(plain)["allocation_requests"]) == len(found.requests)
