# SPDX-License-Identifier: Apache-2.0

"""`/metrics`: the fit of the shapes of `[plimsoll]shapes`, and searches without candidates by reason."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from plimsoll.config.loader import ConfigError
from plimsoll.metrics import DIRECTORY_VARIABLE
from plimsoll.service import shapes
from plimsoll.service.fit import fit_request
from tests.support.waiting import eventually
from tests.unit.api.test_metrics import HOST, Served, served

SHAPES = "small=resources=VCPU:2\n  large=resources=VCPU:5,MEMORY_MB:10"


@pytest.fixture(autouse=True)
def no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)


def claim(client: Served, amount: int) -> None:
    body = {
        "allocations": {HOST: {"resources": {"VCPU": amount}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    assert client.put("/allocations/c0000000-0000-0000-0000-000000000001", body).status == 204


def test_the_fit_of_each_shape_is_that_of_the_newest_snapshot(tmp_path: Path) -> None:
    with served(tmp_path, plimsoll__shapes=SHAPES) as client:
        client.host(HOST, VCPU=10, MEMORY_MB=100)
        found = client.scrape()
        assert found.values("plimsoll_shape_fit", "shape") == {"small": 5, "large": 2}
        assert found.values("plimsoll_shape_fit_hosts", "shape") == {"small": 1, "large": 1}
        assert found.values("plimsoll_shape_fit_exact", "shape") == {"small": 1, "large": 1}
        claim(client, 6)
        found = client.scrape()
        assert found.values("plimsoll_shape_fit", "shape") == {"small": 2, "large": 0}
        assert found.values("plimsoll_shape_fit_empty", "shape") == {"small": 5, "large": 2}


def test_a_fit_is_computed_once_for_each_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[object] = []

    def counted(*arguments: object, **options: object) -> object:
        computed.append(arguments[1])
        return fit_request(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(shapes, "fit_request", counted)
    with served(tmp_path, plimsoll__shapes=SHAPES) as client:
        client.host(HOST, VCPU=10, MEMORY_MB=100)
        for _ in range(3):
            client.scrape()
        assert len(computed) == 2
        claim(client, 1)
        client.scrape()
        assert len(computed) == 4


def test_a_shape_with_an_unknown_name_is_left_out_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        served(tmp_path, plimsoll__shapes="odd=resources=CUSTOM_ODD:1 small=resources=VCPU:2") as client,
        caplog.at_level(logging.WARNING, logger=shapes.LOG.name),
    ):
        client.host(HOST, VCPU=10)
        client.scrape()
        claim(client, 1)
        assert client.scrape().values("plimsoll_shape_fit", "shape") == {"small": 4}
    assert len([line for line in caplog.messages if "no fit of the shape odd" in line]) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("small=resources=VCPU:many", "small: "),
        ("small=nothing=1", "small: "),
        (" ".join(f"s{number}=resources=VCPU:1" for number in range(11)), "at most 10"),
    ],
)
def test_shapes_that_are_no_queries_fail_the_start(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem), served(tmp_path, plimsoll__shapes=text):
        pass


@pytest.mark.parametrize("text", ["small", "=resources=VCPU:1", "a/b=resources=VCPU:1", "small="])
def test_shapes_of_another_form_are_no_value_of_the_option(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="NAME=QUERY"), served(tmp_path, plimsoll__shapes=text):
        pass


@pytest.mark.parametrize(("keep", "reasons"), [(1_000, {"used": 3, "capacity": 2}), (0, {"unexplained": 5})])
def test_searches_without_candidates_are_counted_by_reason_with_their_amounts(
    tmp_path: Path, keep: int, reasons: dict[str, int]
) -> None:
    with served(tmp_path, plimsoll__unplaced_keep=keep) as client:
        client.host(HOST, VCPU=10, MEMORY_MB=100)
        claim(client, 9)
        for _ in range(3):
            client.get("/allocation_candidates?resources=VCPU:2,MEMORY_MB:1")
        for _ in range(2):
            client.get("/allocation_candidates?resources=VCPU:20")
        client.get("/allocation_candidates?resources=VCPU:1")
        client.get("/allocation_candidates?resources=CUSTOM_ODD:1")
        assert eventually(
            lambda: client.scrape().values("plimsoll_search_empty_total", "reason") == reasons
        ), client.scrape().values("plimsoll_search_empty_total", "reason")
        found = client.scrape()
    amounts = found.values("plimsoll_unmet_amount_total", "resource_class")
    assert amounts == {"VCPU": 3 * 2 + 2 * 20, "MEMORY_MB": 3}
    assert found.sum("plimsoll_search_empty_total") == found.value("plimsoll_searches_total", result="empty")
