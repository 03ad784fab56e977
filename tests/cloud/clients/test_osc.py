# SPDX-License-Identifier: Apache-2.0

"""Every command of osc-placement, with a login at Keystone and the endpoint from its catalog: before Plimsoll it does
and says what it does and says before the reference."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pytest

from tests.cloud.clients.commands import NAMES, Step, steps
from tests.cloud.clients.openstack import ELSEWHERE, OpenStack, Ran, started
from tests.cloud.keystone import REGION, Keystone
from tests.cloud.services import Plimsoll
from tests.differential.wording import same_meaning

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
ANN = (
    "--os-placement-api-version 1.9 resource usage show {own} -f json",
    "--os-placement-api-version 1.9 resource usage show {other} -f json",
    "resource provider list -f json",
)
"""What somebody asks who may read in a project and nothing else."""


@dataclass(frozen=True, slots=True)
class Told:
    """The story before one of the services, and what somebody without rights was told after it."""

    commands: list[str]
    ran: list[tuple[Step, Ran]]
    reader: list[Ran]

    def of(self, version: str, command: str) -> Any:
        """What was shown."""
        (ran,) = [ran for step, ran in self.ran if (step.version, step.command) == (version, command)]
        return ran.json


@dataclass(frozen=True, slots=True)
class Telling:
    here: Told
    there: Told


@pytest.fixture(scope="module")
def told(keystone: Keystone, plimsoll: Plimsoll, reference: Plimsoll) -> Telling:
    """Both at the same time."""
    ann = keystone.user("ann", "engines", "reader")
    lines = [line.format(own=keystone.project("engines"), other=keystone.project("admin")) for line in ANN]

    def tell(region: str) -> Told:
        where = {"OS_REGION_NAME": region}
        with OpenStack(keystone.environment() | where) as openstack:
            ran = [(step, openstack.run(step.line)) for step in steps()]
            reader = [openstack.run(line, keystone.environment(ann) | where) for line in lines]
            return Told(openstack.commands, ran, reader)

    with ThreadPoolExecutor() as threads:
        return Telling(*threads.map(tell, [REGION, ELSEWHERE]))


def comparable(ran: Ran) -> tuple[int, Any, str]:
    """What has to be the same: not the uuids that a service chose, nor the order of lists."""
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


def test_the_story_tells_of_every_command(told: Telling) -> None:
    assert told.here.commands, "osc-placement has commands"
    said = [f"{step.command} " for step in steps()]
    assert [c for c in told.here.commands if not any(s.startswith(f"{c} ") for s in said)] == []


def test_every_command_does_what_it_should(told: Telling) -> None:
    wrong = [
        f"{step.line}\n{ran.code} {ran.out}{ran.err}"
        for step, ran in told.here.ran
        if step.fails != bool(ran.code)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_command_says_what_it_says_before_the_reference(told: Telling) -> None:
    differing = [
        f"openstack {step.line}\n  here:  {here}\n  there: {there}"
        for (step, here), (_, there) in zip(told.here.ran, told.there.ran, strict=True)
        if not is_same(here, there)
    ]
    assert not differing, "\n".join(differing)


def is_same(here: Ran, there: Ran) -> bool:
    """Equal, but for the words of a refusal, to which facts may be appended."""
    (*rest_here, words_here), (*rest_there, words_there) = comparable(here), comparable(there)
    lines = words_here.splitlines(), words_there.splitlines()
    if rest_here != rest_there or len(lines[0]) != len(lines[1]):
        return False
    return all(_is_same_refusal(ours, theirs) for ours, theirs in zip(*lines, strict=True))


def _is_same_refusal(here: str, there: str) -> bool:
    """osc-placement appends the status to the words."""
    (words_here, _, status_here), (words_there, _, status_there) = (
        line.rpartition(" (HTTP ") for line in (here, there)
    )
    return here == there or (status_here == status_there and same_meaning(words_there, words_here))


def test_what_was_done_is_shown(told: Telling) -> None:
    inventories = told.here.of("1.0", "resource provider inventory list HOST")
    assert {row["resource_class"]: row["total"] for row in inventories} == {"VCPU": 8, "MEMORY_MB": 4096}
    candidates = told.here.of(
        "1.29", "allocation candidate list --resource MEMORY_MB=128 --resource CUSTOM_GOLD=1"
    )
    assert {row["resource provider"] for row in candidates} == {NAMES["HOST"], NAMES["NUMA"]}
    usages = told.here.of("1.9", "resource usage show PROJECT")
    assert {row["resource_class"]: row["usage"] for row in usages} == {
        "VCPU": 4,
        "MEMORY_MB": 128,
        "DISK_GB": 10,
        "CUSTOM_GOLD": 1,
    }
    assert told.here.of("-", "resource provider list") == []


def test_a_reader_sees_the_usages_of_the_own_project_alone(told: Telling) -> None:
    assert [ran.code for ran in told.here.reader] == [0, 1, 1]
    assert list(map(comparable, told.here.reader)) == list(map(comparable, told.there.reader))


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
