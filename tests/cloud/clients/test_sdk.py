# SPDX-License-Identifier: Apache-2.0

"""Everything that openstacksdk's placement proxy offers: before Plimsoll it gives what it gives before the reference."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cloud.clients.openstack import ELSEWHERE, ROOT, surroundings
from tests.cloud.keystone import BIN, REGION, Keystone
from tests.cloud.services import Plimsoll
from tests.differential.wording import same_meaning


@dataclass(frozen=True, slots=True)
class Telling:
    offered: list[str]
    here: list[tuple[str, Any]]
    there: list[tuple[str, Any]]

    def of(self, method: str) -> list[Any]:
        return [came for name, came in self.here if name == method]


@pytest.fixture(scope="module")
def told(keystone: Keystone, plimsoll: Plimsoll, reference: Plimsoll) -> Telling:
    def tell(region: str) -> Any:
        ran = subprocess.run(
            [BIN / "python", "-W", "ignore", "-m", "tests.cloud.clients.programs.sdk"],
            cwd=ROOT,
            env=surroundings(keystone.environment() | {"OS_REGION_NAME": region}),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    with ThreadPoolExecutor() as threads:
        here, there = threads.map(tell, [REGION, ELSEWHERE])
    return Telling(here["offered"], here["told"], there["told"])


def test_everything_that_is_offered_is_used(told: Telling) -> None:
    assert "create_resource_provider" in told.offered
    assert set(told.offered) - {method for method, _ in told.here} == set()


def test_everything_gives_what_it_gives_before_the_reference(told: Telling) -> None:
    differing = [
        f"{number}. {method}\n  here:  {here}\n  there: {there}"
        for number, ((method, here), (_, there)) in enumerate(zip(told.here, told.there, strict=True))
        if not _is_same(_comparable(here), _comparable(there))
    ]
    assert not differing, "\n".join(differing)


def _is_same(here: Any, there: Any) -> bool:
    """Equal, but for the words of a refusal, to which facts may be appended."""
    if not (isinstance(here, dict) and isinstance(there, dict) and "refused" in there):
        return bool(here == there)
    without_words = [{**came, "detail": None} for came in (here, there)]
    return without_words[0] == without_words[1] and same_meaning(there["detail"], here["detail"])


def _comparable(came: Any) -> Any:
    """Lists have no order."""
    if isinstance(came, list):
        return sorted(map(_comparable, came), key=repr)
    if isinstance(came, dict):
        return {name: _comparable(value) for name, value in sorted(came.items())}
    return came


def test_what_was_done_is_given(told: Telling) -> None:
    made, again, *_ = told.of("create_resource_provider")
    assert (made["name"], made["generation"]) == ("host", 0)
    assert (again["refused"], again["status"]) == ("ConflictException", 409)
    assert "Conflicting resource provider name: host already exists." in again["detail"]
    assert {"VCPU"} <= {each["name"] for each in told.of("resource_classes")[0]}
    assert told.of("fetch_resource_provider_usages")[0]["usages"] == {"VCPU": 2}
    assert [each["consumer_type"] for each in told.of("usages")[0]] == ["MIGRATION"]
    assert told.of("resource_providers")[-1] == []
