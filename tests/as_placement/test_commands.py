# SPDX-License-Identifier: Apache-2.0

"""`placement-manage` and `placement-status` compared with those of openstack-placement 16.0.0, in scenarios.

Standard output and exit status are the same. So is standard error if the command line is wrong; where the reference
prints a traceback, ours print one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.upgradecheck import Code, Result, as_table
from tests.as_placement.installation import Installation, once
from tests.as_placement.run_scenarios import Outcomes, run_scenarios
from tests.as_placement.scenarios import Scenario, Step, scenarios
from tests.storage import reference

SCENARIOS = scenarios({"theirs": Path(), "ours": Path()})


@dataclass(frozen=True, slots=True)
class BothOutcomes:
    """The outcomes of both commands in each scenario."""

    theirs: Outcomes
    ours: Outcomes

    def steps(self, name: str) -> Iterator[tuple[Step, dict[str, Any], dict[str, Any]]]:
        return zip(SCENARIOS[name].steps, self.theirs[name], self.ours[name], strict=True)


@pytest.fixture(scope="session")
def outcomes(
    installation: Installation, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> BothOutcomes:
    pythons = {"theirs": reference.BIN / "python", "ours": installation.bin / "python"}
    if not pythons["theirs"].exists():
        pytest.skip("needs the reference: run `make test`, which installs it")

    def make() -> str:
        directory = tmp_path_factory.mktemp("clouds")
        clouds = {owner: old_cloud(python, directory / owner) for owner, python in pythons.items()}
        return json.dumps(
            {owner: run_scenarios(python, scenarios(clouds)) for owner, python in pythons.items()}
        )

    return BothOutcomes(**json.loads(once(shared / "scenarios.json", make)))


def old_cloud(python: Path, file: Path) -> Path:
    """Create a database with the command of this interpreter, and fill it with rows of old releases."""
    settings = {"OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{file}"}
    outcome = run_scenarios(
        python, {"sync": Scenario([["placement-manage", "db", "sync"]], settings=settings)}
    )
    assert outcome["sync"][0]["status"] == 0, outcome
    reference.fill(f"sqlite:///{file}")
    return file


def comparable_output(stdout: str) -> str:
    """Remove the parts that may differ: help texts, versions, names of functions, error messages.

    With --json the reference prints its table too, so ours is formatted as a table.
    """
    if stdout.startswith("usage:"):
        return stdout.partition("\n\n")[0]
    if stdout.startswith("Error:\n"):
        return "Error:\n"
    if stdout.startswith("{"):
        checks = json.loads(stdout)["checks"]
        return as_table([Result(one["check"], Code(one["result"]), one["details"]) for one in checks]) + "\n"
    stdout = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", stdout)
    return re.sub(r"\A\d+\.\d+\.\d+\n\Z", "VERSION\n", stdout)


@pytest.mark.parametrize("name", SCENARIOS)
def test_output_and_exit_status_equal_the_references(outcomes: BothOutcomes, name: str) -> None:
    for step, theirs, ours in outcomes.steps(name):
        expected = (step, theirs["status"], comparable_output(theirs["stdout"]))
        assert (step, ours["status"], comparable_output(ours["stdout"])) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_errors_are_reported_in_one_line(outcomes: BothOutcomes, name: str) -> None:
    for step, theirs, ours in outcomes.steps(name):
        if theirs["stderr"].startswith("usage:"):
            assert (step, ours["stderr"]) == (step, theirs["stderr"])
        elif "Traceback" in theirs["stderr"] and "online_data_migrations" not in step:
            assert re.fullmatch(r"Error: .+\n", ours["stderr"]), step
        elif "online_data_migrations" not in step:  # it logs failures to standard error
            assert ours["stderr"] == "", step
        assert "Traceback" not in ours["stdout"], step


def test_the_scenarios_cover_every_exit_status(outcomes: BothOutcomes) -> None:
    statuses: dict[str, set[int]] = {}
    for name in SCENARIOS:
        for step, theirs, _ in outcomes.steps(name):
            if isinstance(step, list) and not theirs["stderr"].startswith("usage:"):
                statuses.setdefault(" ".join(step[:3]), set()).add(theirs["status"])
    assert statuses["placement-manage db online_data_migrations"] == {0, 1, 2, 127}
    assert statuses["placement-status upgrade check"] == {0, 1, 2, 255}
    assert statuses["placement-manage db sync"] == {0, 1}


def test_json_is_json(outcomes: BothOutcomes) -> None:
    """The reference accepts --json and prints its table; ours prints the JSON that other services print."""
    (printed,) = [
        ours["stdout"] for step, _, ours in outcomes.steps("old cloud of ours") if step[-1:] == ["--json"]
    ]
    assert json.loads(printed) == {
        "name": "Upgrade Check Results",
        "checks": [
            {
                "check": "Missing Root Provider IDs",
                "result": 2,
                "details": "There is at least one resource provider table record which misses its root provider"
                ' id. Run the "placement-manage db online_data_migrations" command.',
            },
            {
                "check": "Incomplete Consumers",
                "result": 1,
                "details": "There are 7 incomplete consumers table records for existing allocations. Run the"
                ' "placement-manage db online_data_migrations" command.',
            },
            {"check": "Policy File JSON to YAML Migration", "result": 0, "details": None},
        ],
    }
