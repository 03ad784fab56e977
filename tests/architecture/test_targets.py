# SPDX-License-Identifier: Apache-2.0

"""Each suite of tests that `make test` leaves out has a make target, which `.ci/run` runs and `make test` names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
RECIPES = dict(re.findall(r"^([a-z-]+):.*## .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE))
RUN_BY_CI = re.findall(r"^run ([a-z-]+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
(SUITES,) = (line.split() for line in re.findall(r"^SUITES := (.*)$", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_that_make_test_leaves_out_is_run_by_ci_and_named(suite: str) -> None:
    assert any((ROOT / "tests" / suite).glob("test_*.py"))
    targets = [
        target
        for target, recipe in RECIPES.items()
        if re.search(rf"-m pytest .*\btests/{suite}(?![\w/])", recipe) and target != "test"
    ]
    assert targets, f"no target runs tests/{suite}"
    assert set(targets) <= set(RUN_BY_CI)
    assert all(f"(make {target})" in RECIPES["test"] for target in targets)


def test_make_test_leaves_out_these_suites_only() -> None:
    assert re.findall(r"--ignore\S* (\S+)", RECIPES["test"]) == ["tests/%)"]


def test_the_tests_of_nova_are_a_target_too() -> None:
    """The target `cloud` leaves them out."""
    assert "--ignore tests/cloud/nova" in RECIPES["cloud"]
    assert "tests/cloud/nova" in RECIPES["nova"]
    assert {"cloud", "nova"} <= set(RUN_BY_CI)
