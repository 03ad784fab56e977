# SPDX-License-Identifier: Apache-2.0

"""Explanations of random requests agree with the search and with a plain model. `python -m tests.property.explain` runs more."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.search.clouds import Case
from tests.property.search.explaining import check, explain_case


@settings(max_examples=300, deadline=None)
@given(case=st.builds(explain_case, st.randoms(use_true_random=True)))
def test_an_explanation_agrees_with_the_search_and_with_the_model(case: Case) -> None:
    check(case)
