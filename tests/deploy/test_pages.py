# SPDX-License-Identifier: Apache-2.0

"""The guide to deployment tells of every example how it was run, and each of them has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deploy import examples

GUIDES = examples.ROOT / "docs" / "guides"
EXAMPLES = sorted(
    str(file.relative_to(examples.DEPLOY)) for file in examples.DEPLOY.rglob("*") if file.is_file()
)
TESTS = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_in_the_table_and_in_a_test(example: str) -> None:
    rows = [line for line in (GUIDES / "deploy.md").read_text().splitlines() if f"[{example}]" in line]
    assert len(rows) == 1
    how, run_with = (cell.strip() for cell in rows[0].split("|")[3:5])
    assert how
    assert run_with
    assert example in TESTS or Path(example).name in TESTS


@pytest.mark.parametrize("tool", ["kolla-ansible", "openstack-ansible", "openstack-helm"])
def test_guides_for_tools_say_that_they_were_not_run_and_that_one_service_stops_first(tool: str) -> None:
    text = re.sub(r"\s+", " ", (GUIDES / f"{tool}.md").read_text())
    assert re.search(r"\*\*[^*]* not run with Plimsoll\.\*\*", text)
    assert "must not run side by side on one database" in text
    assert "(take-over.md)" in text
