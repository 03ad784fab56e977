# SPDX-License-Identifier: Apache-2.0

"""Each fast path is measured, described, and its lines are counted."""

from __future__ import annotations

import pytest

from bench.fast_paths import BEGIN, CODE, END, LOADS, OWN_WORKS, PAGE, SERVER, WORKS, count_lines
from plimsoll.fast_paths import NAMES


@pytest.mark.parametrize("name", [SERVER, *NAMES])
def test_each_fast_path_has_code_and_a_section_on_its_page(name: str) -> None:
    assert count_lines(CODE[name]) > 10
    assert f"\n### `{name}`" in PAGE.read_text()


def test_only_existing_fast_paths_are_described() -> None:
    assert set(CODE) == {SERVER, *NAMES}
    assert set(OWN_WORKS) <= set(CODE)


def test_each_work_has_a_load() -> None:
    works = [*WORKS, *(work for own in OWN_WORKS.values() for work in own)]
    assert {work.title for work in works} == set(LOADS)


def test_a_method_has_fewer_lines_than_its_module() -> None:
    module, method = "ledger/commit.py", "ledger/commit.py:Committer.commit"
    assert 5 < count_lines([method]) < count_lines([module])


def test_the_page_has_a_place_for_each_table() -> None:
    text = PAGE.read_text()
    assert BEGIN.format("mariadb") in text
    assert END.format("mariadb") in text
