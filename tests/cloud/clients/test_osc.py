# SPDX-License-Identifier: Apache-2.0

"""Every command of osc-placement, with a login at Keystone and the endpoint from its catalog, has the same effect and
output with Plimsoll as with the reference."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pytest

from tests.cloud.clients.commands import NAMES, Step, steps
from tests.cloud.clients.openstack import REFERENCE_REGION, CommandResult, OpenStack, started
from tests.cloud.keystone import REGION, Keystone
from tests.cloud.services import Plimsoll
from tests.differential.wording import same_meaning

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
ANN = (
    "--os-placement-api-version 1.9 resource usage show {own} -f json",
    "--os-placement-api-version 1.9 resource usage show {other} -f json",
    "resource provider list -f json",
)
"""Commands of a user with only the role reader in a project."""


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The outcomes of the scenario with one of the services, and of commands of a user without rights after it."""

    commands: list[str]
    ran: list[tuple[Step, CommandResult]]
    reader: list[CommandResult]

    def of(self, version: str, command: str) -> Any:
        """Return the output of a command."""
        (ran,) = [ran for step, ran in self.ran if (step.version, step.command) == (version, command)]
        return ran.json


@dataclass(frozen=True, slots=True)
class Outcomes:
    here: ScenarioResult
    there: ScenarioResult


@pytest.fixture(scope="module")
def outcomes(keystone: Keystone, plimsoll: Plimsoll, reference: Plimsoll) -> Outcomes:
    """Run the scenario with both services at the same time."""
    ann = keystone.user("ann", "engines", "reader")
    lines = [line.format(own=keystone.project("engines"), other=keystone.project("admin")) for line in ANN]

    def run_scenario(region: str) -> ScenarioResult:
        where = {"OS_REGION_NAME": region}
        with OpenStack(keystone.environment() | where) as openstack:
            ran = [(step, openstack.run(step.line)) for step in steps()]
            reader = [openstack.run(line, keystone.environment(ann) | where) for line in lines]
            return ScenarioResult(openstack.commands, ran, reader)

    with ThreadPoolExecutor() as threads:
        return Outcomes(*threads.map(run_scenario, [REGION, REFERENCE_REGION]))


def comparable(ran: CommandResult) -> tuple[int, Any, str]:
    """Return the parts that must be equal: without generated UUIDs, and with sorted lists."""
    shown = json.loads(_without_new(ran.out)) if ran.out else None
    return ran.code, _in_order(shown), _without_new(ran.err)


def _without_new(text: str) -> str:
    return UUID.sub(lambda uuid: uuid[0] if uuid[0] in NAMES.values() else "new", text)


def _in_order(shown: Any) -> Any:
    match shown:
        case [{"#": _}, *_]:  # rows of one candidate have its number
            return _in_order([_candidate(rows) for _, rows in groupby(shown, lambda row: row["#"])])
        case list():
            return sorted(map(_in_order, shown), key=repr)
        case dict():
            return {key: _in_order(shown[key]) for key in sorted(shown)}
        case str():  # A=1,B=2 in a cell
            return ",".join(sorted(shown.split(",")))
    return shown


def _candidate(rows: Any) -> list[dict[str, Any]]:
    return [{name: cell for name, cell in row.items() if name != "#"} for row in rows]


def test_the_scenario_uses_every_command(outcomes: Outcomes) -> None:
    assert outcomes.here.commands, "osc-placement has commands"
    used = [f"{step.command} " for step in steps()]
    assert [c for c in outcomes.here.commands if not any(s.startswith(f"{c} ") for s in used)] == []


def test_every_command_succeeds_or_fails_as_expected(outcomes: Outcomes) -> None:
    wrong = [
        f"{step.line}\n{ran.code} {ran.out}{ran.err}"
        for step, ran in outcomes.here.ran
        if step.fails != bool(ran.code)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_command_prints_the_same_as_with_the_reference(outcomes: Outcomes) -> None:
    differing = [
        f"openstack {step.line}\n  here:  {here}\n  there: {there}"
        for (step, here), (_, there) in zip(outcomes.here.ran, outcomes.there.ran, strict=True)
        if not is_same(here, there)
    ]
    assert not differing, "\n".join(differing)


def is_same(here: CommandResult, there: CommandResult) -> bool:
    """Return True if both are equal. The text of a refusal may have facts appended."""
    (*rest_here, words_here), (*rest_there, words_there) = comparable(here), comparable(there)
    lines = words_here.splitlines(), words_there.splitlines()
    if rest_here != rest_there or len(lines[0]) != len(lines[1]):
        return False
    return all(_is_same_refusal(ours, theirs) for ours, theirs in zip(*lines, strict=True))


def _is_same_refusal(here: str, there: str) -> bool:
    """Compare texts of refusals, to which osc-placement appends the status."""
    (words_here, _, status_here), (words_there, _, status_there) = (
        line.rpartition(" (HTTP ") for line in (here, there)
    )
    return here == there or (status_here == status_there and same_meaning(words_there, words_here))


def test_changes_are_shown_by_later_commands(outcomes: Outcomes) -> None:
    inventories = outcomes.here.of("1.0", "resource provider inventory list HOST")
    assert {row["resource_class"]: row["total"] for row in inventories} == {"VCPU": 8, "MEMORY_MB": 4096}
    candidates = outcomes.here.of(
        "1.29", "allocation candidate list --resource MEMORY_MB=128 --resource CUSTOM_GOLD=1"
    )
    assert {row["resource provider"] for row in candidates} == {NAMES["HOST"], NAMES["NUMA"]}
    usages = outcomes.here.of("1.9", "resource usage show PROJECT")
    assert {row["resource_class"]: row["usage"] for row in usages} == {
        "VCPU": 4,
        "MEMORY_MB": 128,
        "DISK_GB": 10,
        "CUSTOM_GOLD": 1,
    }
    assert outcomes.here.of("-", "resource provider list") == []


def test_a_reader_sees_the_usages_of_their_own_project_only(outcomes: Outcomes) -> None:
    assert [ran.code for ran in outcomes.here.reader] == [0, 1, 1]
    assert list(map(comparable, outcomes.here.reader)) == list(map(comparable, outcomes.there.reader))


def test_a_command_works_as_a_process_of_its_own(keystone: Keystone, plimsoll: Plimsoll) -> None:
    listed = started("resource class list -f value", keystone.environment())
    assert (listed.code, listed.err) == (0, "")
    assert "VCPU" in listed.out.splitlines()
    refused = started("trait show CUSTOM_UNKNOWN", keystone.environment())
    assert (refused.code, refused.out) == (1, "")
    assert "No such trait(s): CUSTOM_UNKNOWN. (HTTP 404)" in refused.err


def test_the_versions_of_the_service_are_shown(keystone: Keystone, plimsoll: Plimsoll) -> None:
    shown = started(
        f"versions show --service placement --region-name {REGION} -f json", keystone.environment()
    )
    (version,) = shown.json
    assert version["Status"] == "CURRENT"
    assert (version["Min Microversion"], version["Max Microversion"]) == ("1.0", "1.39")
    assert version["Endpoint"].rstrip("/") == plimsoll.url
