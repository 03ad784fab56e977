# SPDX-License-Identifier: Apache-2.0

"""Choices are found in bulk or one by one; what is said of the search is said of both."""

from collections.abc import Iterator

import pytest

from plimsoll.search.combine import order


@pytest.fixture(params=["in bulk", "one by one"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "one by one":
            patch.setattr(order, "MOST_PARTIAL", 0)
        yield
