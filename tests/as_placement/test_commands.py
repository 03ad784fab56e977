# SPDX-License-Identifier: Apache-2.0

"""`placement-manage` and `placement-status` print and exit as those of openstack-placement 16.0.0, story by story.

Standard output and exit status are the same. So is standard error where the command line is at fault; where the
reference shows a traceback there is one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.results import Code, Result, as_table
from tests.as_placement.installation import Installation, once
from tests.as_placement.stories import Step, Story, stories
from tests.as_placement.telling import Outcomes, tell
from tests.storage import reference

STORIES = stories({"theirs": Path(), "ours": Path()})


@dataclass(frozen=True, slots=True)
class Told:
    """What both commands did in each story."""

    theirs: Outcomes
    ours: Outcomes

    def steps(self, name: str) -> Iterator[tuple[Step, dict[str, Any], dict[str, Any]]]:
        return zip(STORIES[name].steps, self.theirs[name], self.ours[name], strict=True)


@pytest.fixture(scope="session")
def told(installation: Installation, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Told:
    pythons = {"theirs": reference.BIN / "python", "ours": installation.bin / "python"}
    if not pythons["theirs"].exists():
        pytest.skip("needs the reference: run `make test`, which installs it")

    def make() -> str:
        directory = tmp_path_factory.mktemp("clouds")
        clouds = {owner: old_cloud(python, directory / owner) for owner, python in pythons.items()}
        return json.dumps({owner: tell(python, stories(clouds)) for owner, python in pythons.items()})

    return Told(**json.loads(once(shared / "stories.json", make)))


def old_cloud(python: Path, file: Path) -> Path:
    """A database that the command of this interpreter has made, with rows as they were years ago."""
    settings = {"OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{file}"}
    made = tell(python, {"sync": Story([["placement-manage", "db", "sync"]], settings=settings)})
    assert made["sync"][0]["status"] == 0, made
    reference.fill(f"sqlite:///{file}")
    return file


def essence(stdout: str) -> str:
    """Without what may differ: words of a help, a version, what Python calls a function, how a failure is explained.

    With --json the reference prints its table all the same, so ours is drawn as one.
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


@pytest.mark.parametrize("name", STORIES)
def test_the_commands_print_and_exit_as_the_reference_s_do(told: Told, name: str) -> None:
    for step, theirs, ours in told.steps(name):
        expected = (step, theirs["status"], essence(theirs["stdout"]))
        assert (step, ours["status"], essence(ours["stdout"])) == expected


@pytest.mark.parametrize("name", STORIES)
def test_what_goes_wrong_is_told_in_one_line(told: Told, name: str) -> None:
    for step, theirs, ours in told.steps(name):
        if theirs["stderr"].startswith("usage:"):
            assert (step, ours["stderr"]) == (step, theirs["stderr"])
        elif "Traceback" in theirs["stderr"] and "online_data_migrations" not in step:
            assert re.fullmatch(r"Error: .+\n", ours["stderr"]), step
        elif "online_data_migrations" not in step:  # which logs what failed, and this is where the log goes
            assert ours["stderr"] == "", step
        assert "Traceback" not in ours["stdout"], step


def test_the_stories_see_every_exit_status_that_tools_know(told: Told) -> None:
    statuses: dict[str, set[int]] = {}
    for name in STORIES:
        for step, theirs, _ in told.steps(name):
            if isinstance(step, list) and not theirs["stderr"].startswith("usage:"):
                statuses.setdefault(" ".join(step[:3]), set()).add(theirs["status"])
    assert statuses["placement-manage db online_data_migrations"] == {0, 1, 2, 127}
    assert statuses["placement-status upgrade check"] == {0, 1, 2, 255}
    assert statuses["placement-manage db sync"] == {0, 1}


def test_json_is_json(told: Told) -> None:
    """The reference takes --json and prints its table; here it is what other services print for it."""
    (printed,) = [
        ours["stdout"] for step, _, ours in told.steps("old cloud of ours") if step[-1:] == ["--json"]
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
