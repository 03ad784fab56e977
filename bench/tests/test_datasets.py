# SPDX-License-Identifier: Apache-2.0

"""A dataset has the same rows each time, and Plimsoll finds the expected candidates in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.datasets import shapes
from bench.datasets.loading import fill
from bench.datasets.rows import Rows
from bench.measuring.workloads import FLAT, NESTED, WORKLOADS
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.support.api import Response, api


def get(directory: Path, rows: Rows, target: str) -> Response:
    """Return Plimsoll's response on a database with these rows."""
    file = directory / "placement.sqlite"
    database = Database(f"sqlite:///{file}")
    migrate.sync(database)
    database.dispose()
    fill(f"sqlite:///{file}", rows)
    with api(file) as service:
        return service.get(target)


@pytest.mark.parametrize("build", [shapes.flat, shapes.nested, shapes.devices, shapes.shared])
def test_a_dataset_is_the_same_each_time(build: Callable[[int], Rows]) -> None:
    assert build(7).tables == build(7).tables


def test_every_flat_host_is_a_candidate(tmp_path: Path) -> None:
    found = get(tmp_path, shapes.flat(30), FLAT).json
    assert len(found["allocation_requests"]) == 30
    summary = next(iter(found["provider_summaries"].values()))
    assert len(summary["traits"]) == 10
    assert len(summary["resources"]) == 3


def test_a_nested_tree_of_seven_has_two_candidates(tmp_path: Path) -> None:
    found = get(tmp_path, shapes.nested(5), NESTED).json
    assert len(found["allocation_requests"]) == 10
    assert len(found["provider_summaries"]) == 35


def test_eight_devices_for_two_groups_give_56_candidates(tmp_path: Path) -> None:
    search = next(work.search for work in WORKLOADS if work.key == "devices-2")
    assert search is not None
    found = get(tmp_path, shapes.devices(1), search).json
    assert len(found["allocation_requests"]) == 8 * 7


def test_one_host_in_twenty_of_the_busy_dataset_has_room(tmp_path: Path) -> None:
    search = next(work.search for work in WORKLOADS if work.key == "busy-all")
    assert search is not None
    found = get(tmp_path, shapes.busy(1_000), search).json
    assert len(found["allocation_requests"]) == 50


def test_the_project_has_the_number_of_consumers_in_the_title() -> None:
    rows = shapes.busy()
    (owner,) = [row[2] for row in rows.tables["projects"] if row[3] == shapes.PROJECT]
    at = rows.columns["consumers"].index("project_id")
    assert sum(row[at] == owner for row in rows.tables["consumers"]) == shapes.PROJECT_CONSUMERS


def test_hosts_of_the_shared_dataset_use_disk_from_their_pool(tmp_path: Path) -> None:
    found = get(tmp_path, shapes.shared(20, 2), FLAT).json
    assert len(found["allocation_requests"]) == 20
    assert all(len(each["allocations"]) == 2 for each in found["allocation_requests"])
