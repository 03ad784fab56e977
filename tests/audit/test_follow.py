# SPDX-License-Identifier: Apache-2.0

"""Followers of the change feed: a short run, and what the check finds."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.audit.follow import check, mirrored_rows, run
from tests.audit.run import Settings
from tests.support.mirror import Mirror

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"


def change(number: int, **parts: Any) -> dict[str, Any]:
    return {
        "revision": f"5f3a9c1e:{number}",
        "reload": False,
        "providers": [],
        "consumers": [],
        "names": [],
    } | parts


def changes() -> list[dict[str, Any]]:
    created: dict[str, Any] = {
        "name": "host1",
        "parent": None,
        "root": HOST,
        "generation": 0,
        "inventories": {},
        "traits": [],
        "aggregates": [],
    }
    held = {HOST: {"name": "host1", "resources": {"VCPU": 2}}}
    claimed = {"project": "p", "user": "u", "type": "unknown", "generation": 1, "allocations": held}
    return [
        change(1, providers=[{"uuid": HOST, "name": "host1", "before": None, "after": created}]),
        change(2, names=[{"kind": "trait", "before": None, "after": "CUSTOM_X"}]),
        change(3, consumers=[{"uuid": CONSUMER, "before": None, "after": claimed}]),
    ]


def final() -> dict[str, Counter[tuple[Any, ...]]]:
    mirror = Mirror()
    for each in copy.deepcopy(changes()):
        mirror.apply(each)
    return {table: Counter(found) for table, found in mirrored_rows(mirror).items()}


def test_all_changes_in_order_hold() -> None:
    assert check(changes(), final()) == []


@pytest.mark.parametrize("order", [(0, 2), (0, 1, 1, 2), (0, 2, 1), (1, 0, 2)])
def test_a_change_that_is_lost_repeated_or_out_of_order_is_found(order: tuple[int, ...]) -> None:
    assert any("came after" in line for line in check([changes()[at] for at in order], final()))


def test_other_rows_are_found() -> None:
    other = final()
    other["allocations"][CONSUMER, HOST, "VCPU", 3] += 1
    assert any("the follower has not" in line for line in check(changes(), other))
    other = final()
    other["consumers"].clear()
    assert any("the database has not" in line for line in check(changes(), other))


def test_followers_that_are_killed_rebuild_the_database(tmp_path: Path) -> None:
    found = run(1, Settings(seconds=3, kills=False, services=2, clients=4), tmp_path, lambda _: None)
    assert found == []
