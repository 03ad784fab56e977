# SPDX-License-Identifier: Apache-2.0

"""Options, make targets and decisions are documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.config import loader

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "docs" / "configuration.md"

OPTIONS = [(group, opt) for group, opts in loader.list_opts() for opt in opts]


def section(group: str) -> str:
    found = re.search(
        rf"^## `\[{group}\]`.*?(?=^## |\Z)", CONFIGURATION.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found, f"docs/configuration.md has no section `[{group}]`"
    return found[0]


@pytest.mark.parametrize(("group", "opt"), OPTIONS, ids=[f"{group}.{opt.name}" for group, opt in OPTIONS])
def test_every_option_is_documented_with_its_default(group: str, opt: object) -> None:
    name, default = (
        getattr(opt, "name", ""),
        getattr(opt, "sample_default", None) or getattr(opt, "default", None),
    )
    row = re.search(rf"^\| `{name}` \| (.*?) \| (.+) \|$", section(group), re.MULTILINE)
    assert row, f"docs/configuration.md does not explain [{group}] {name}"
    assert row[1] == ("" if default in (None, "") else f"`{default}`")


def test_no_option_is_documented_that_does_not_exist() -> None:
    for group, opts in loader.list_opts():
        named = set(re.findall(r"^\| `(\w+)` \|", section(group), re.MULTILINE))
        assert named == {opt.name for opt in opts}, group


def test_every_make_target_is_in_the_guide_for_contributors() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert [target for target in targets if f"`make {target}`" not in guide] == []


def test_every_decision_has_context_decision_and_cost() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert decisions
    for decision in decisions:
        text = decision.read_text()
        for heading in ("## Context", "## Decision", "## Costs"):
            assert heading in text, f"{decision.name} lacks {heading}"
