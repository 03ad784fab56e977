# SPDX-License-Identifier: Apache-2.0

"""A few cases of `python -m tests.property.history`."""

from __future__ import annotations

import pytest

from tests.property.history import check_since_when, compare_revisions


def test_responses_as_of_then_equal_those_that_were_stored_then() -> None:
    assert compare_revisions("suite", 8)["revisions"] == 8


@pytest.mark.parametrize("number", [6, 8, 9, 13])  # of the first histories, those in which a change is named
def test_the_change_that_is_named_is_that_of_a_search_of_every_revision(number: int) -> None:
    assert check_since_when(f"suite:{number}", changes=25) == "named"
