# SPDX-License-Identifier: Apache-2.0

"""A fixture that runs a search test twice: with vectorised combination and with backtracking."""

from collections.abc import Iterator

import pytest

from plimsoll.search.combine import order


@pytest.fixture(params=["vectorised", "backtracking"])
def each_combination_method(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "backtracking":
            patch.setattr(order, "MAX_PARTIAL", 0)
        yield
