# SPDX-License-Identifier: Apache-2.0

"""Ten typical questions have the texts in tests/api/v1/explained, and the page of explain shows them."""

from __future__ import annotations

import pytest

from tests.api.v1.explain_cases import CASES, FOLDER, PAGE, ExplainCase, answer_of, sample_api, section_of

WIDTH = 100


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_text_is_the_expected_one(case: ExplainCase) -> None:
    expected = (FOLDER / f"{case.name}.txt").read_text()
    with sample_api() as client:
        assert answer_of(case, client) == expected
    assert case.name == "typo" or max(map(len, expected.splitlines())) <= WIDTH


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_page_shows_the_text(case: ExplainCase) -> None:
    assert section_of(case) in PAGE.read_text()


def test_each_file_belongs_to_a_case() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(case.name for case in CASES)
