# SPDX-License-Identifier: Apache-2.0

"""Every method of openstacksdk's placement proxy returns the same with Plimsoll as with the reference."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cloud.clients.openstack import REFERENCE_REGION, ROOT, client_environment
from tests.cloud.keystone import BIN, REGION, Keystone
from tests.cloud.services import Plimsoll
from tests.differential.wording import same_meaning


@dataclass(frozen=True, slots=True)
class Outcomes:
    offered: list[str]
    here: list[tuple[str, Any]]
    there: list[tuple[str, Any]]

    def of(self, method: str) -> list[Any]:
        return [came for name, came in self.here if name == method]


@pytest.fixture(scope="module")
def outcomes(keystone: Keystone, plimsoll: Plimsoll, reference: Plimsoll) -> Outcomes:
    def run_scenario(region: str) -> Any:
        ran = subprocess.run(
            [BIN / "python", "-W", "ignore", "-m", "tests.cloud.clients.programs.sdk"],
            cwd=ROOT,
            env=client_environment(keystone.environment() | {"OS_REGION_NAME": region}),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    with ThreadPoolExecutor() as threads:
        here, there = threads.map(run_scenario, [REGION, REFERENCE_REGION])
    return Outcomes(here["offered"], here["outcomes"], there["outcomes"])


def test_the_scenario_uses_every_method(outcomes: Outcomes) -> None:
    assert "create_resource_provider" in outcomes.offered
    assert set(outcomes.offered) - {method for method, _ in outcomes.here} == set()


def test_every_method_returns_the_same_as_with_the_reference(outcomes: Outcomes) -> None:
    differing = [
        f"{number}. {method}\n  here:  {here}\n  there: {there}"
        for number, ((method, here), (_, there)) in enumerate(zip(outcomes.here, outcomes.there, strict=True))
        if not _is_same(_comparable(here), _comparable(there))
    ]
    assert not differing, "\n".join(differing)


def _is_same(here: Any, there: Any) -> bool:
    """Return True if both are equal. The text of a refusal may have facts appended."""
    if not (isinstance(here, dict) and isinstance(there, dict) and "refused" in there):
        return bool(here == there)
    without_words = [{**came, "detail": None} for came in (here, there)]
    return without_words[0] == without_words[1] and same_meaning(there["detail"], here["detail"])


def _comparable(came: Any) -> Any:
    """Sort lists, whose order is not defined."""
    if isinstance(came, list):
        return sorted(map(_comparable, came), key=repr)
    if isinstance(came, dict):
        return {name: _comparable(value) for name, value in sorted(came.items())}
    return came


def test_changes_are_returned_by_later_calls(outcomes: Outcomes) -> None:
    made, again, *_ = outcomes.of("create_resource_provider")
    assert (made["name"], made["generation"]) == ("host", 0)
    assert (again["refused"], again["status"]) == ("ConflictException", 409)
    assert "Conflicting resource provider name: host already exists." in again["detail"]
    assert {"VCPU"} <= {each["name"] for each in outcomes.of("resource_classes")[0]}
    assert outcomes.of("fetch_resource_provider_usages")[0]["usages"] == {"VCPU": 2}
    assert [each["consumer_type"] for each in outcomes.of("usages")[0]] == ["MIGRATION"]
    assert outcomes.of("resource_providers")[-1] == []
