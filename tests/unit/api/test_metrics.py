# SPDX-License-Identifier: Apache-2.0

"""`/metrics`: which clients it serves, what it shows, and that it works without the database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll import bootstrap
from plimsoll.config.loader import ConfigError
from plimsoll.metrics import DIRECTORY_VARIABLE
from plimsoll.storage.errors import Unreachable
from tests.support.api import Api, Response, configuration
from tests.support.scrapes import Scrape

HOST = "11111111-1111-1111-1111-111111111111"
NO_TOKEN = {"X-Auth-Token": "", "X-Roles": ""}


def uuid(number: int) -> str:
    return f"{number:08}-0000-0000-0000-000000000000"


class Served(Api):
    """The whole application; requests come from `address`."""

    address = "127.0.0.1"
    has_several_processes = False

    def scrape(self, query: str = "") -> Scrape:
        response = self.anonymous("GET", f"/metrics{query}")
        assert response.status == 200, response.body
        return Scrape(response.body.decode())

    def anonymous(self, method: str, path: str, headers: dict[str, str] | None = None) -> Response:
        return self.call(method, path, version=None, headers=NO_TOKEN | (headers or {}))


@contextlib.contextmanager
def served(path: Path, **options: Any) -> Iterator[Served]:
    conf = configuration(path / "placement.sqlite", **options)
    with bootstrap.temporary_application(conf) as application:

        def app(environ: Any, start_response: Any) -> Any:
            environ["REMOTE_ADDR"] = api.address
            environ["wsgi.multiprocess"] = api.has_several_processes
            if not environ["HTTP_X_AUTH_TOKEN"]:
                del environ["HTTP_X_AUTH_TOKEN"]
            return application(environ, start_response)

        api = Served(app, None)  # type: ignore[arg-type]  # this test does not use the database
        yield api


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)


def test_counters_and_gauges_after_some_requests(tmp_path: Path) -> None:
    with served(tmp_path, plimsoll__metrics_aggregates=True) as api:
        api.host(HOST, "host", VCPU=8)
        group = uuid(3)
        generation = {"aggregates": [group], "resource_provider_generation": 1}
        assert api.put(f"/resource_providers/{HOST}/aggregates", generation).status == 200
        for amount, status in ((3, 204), (9, 409)):
            body = {
                "allocations": {HOST: {"resources": {"VCPU": amount}}},
                "project_id": "p",
                "user_id": "u",
                "consumer_generation": None,
                "consumer_type": "INSTANCE",
            }
            assert api.put(f"/allocations/{uuid(amount)}", body).status == status
        for asked in (1, 1, 7):
            assert api.get(f"/allocation_candidates?resources=VCPU:{asked}").status == 200
        assert api.get("/allocation_candidates?resources=VCPU").status == 400
        for path in ("/nothing", f"/secret/{HOST}", "/resource_providers/", f"/resource_providers/{uuid(9)}"):
            assert api.get(path).status == 404
        scrape = api.scrape()

    requests = scrape.series.items()
    routes = {
        dict(labels)["route"] for (name, labels), _ in requests if name == "plimsoll_request_seconds_count"
    }
    assert routes == {
        "other",
        "/resource_providers",
        "/resource_providers/{uuid}",
        "/resource_providers/{uuid}/inventories",
        "/resource_providers/{uuid}/aggregates",
        "/allocations/{consumer_uuid}",
        "/allocation_candidates",
    }
    assert scrape.sum("plimsoll_request_seconds_count", route="other", status="404") == 3
    assert (
        scrape.sum("plimsoll_request_seconds_count", route="/allocations/{consumer_uuid}", status="409") == 1
    )
    assert scrape.values("plimsoll_searches_total", "result") == {
        "found": 1,
        "cached": 1,
        "empty": 1,
        "failed": 0,
    }
    stages = scrape.values("plimsoll_search_stage_seconds_count", "stage")
    assert stages == {"index": 2, "plan": 2, "combine": 1, "encode": 2}
    assert scrape.values("plimsoll_claims_total", "result") == {"accepted": 1, "refused": 1}
    assert scrape.value("plimsoll_conflicts_total", reason="capacity_exceeded") == 1
    commits = scrape.sum("plimsoll_commit_seconds_count")
    assert scrape.value("plimsoll_batch_commands_count") == commits >= 4
    assert scrape.value("plimsoll_full_load_seconds_count") == 1
    assert scrape.value("plimsoll_database_up") == 1
    assert scrape.value("plimsoll_head_sequence") == scrape.value("plimsoll_snapshot_sequence") >= 4
    figures = {"capacity": 8, "reserved": 0, "used": 3, "free": 5, "largest_free": 5}
    for name, figure in figures.items():
        assert scrape.value(f"plimsoll_resource_{name}", resource_class="VCPU") == figure
        labels = {"aggregate": group, "resource_class": "VCPU"}
        assert scrape.value(f"plimsoll_aggregate_{name}", **labels) == figure
    assert not any(name.startswith("openstack_") for name in scrape.names)


def test_clients_of_other_networks_need_a_token_that_may_list_providers(tmp_path: Path) -> None:
    with served(tmp_path) as api:
        assert api.anonymous("GET", "/metrics").status == 200
        assert api.anonymous("GET", "/metrics", {"X-Forwarded-For": "127.0.0.1"}).status == 401
        assert api.call("GET", "/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status == 200
        refused = api.call("GET", "/metrics", headers={"X-Roles": "reader", "Via": "1.1 proxy"})
        assert refused.status == 403
        assert "placement:resource_providers:list" in refused.detail


@pytest.mark.parametrize(
    ("networks", "status"), [(["203.0.113.0/24"], 200), (["10.0.0.0/8"], 403), ([], 403)]
)
def test_the_networks_are_a_setting(tmp_path: Path, networks: list[str], status: int) -> None:
    with served(tmp_path, plimsoll__metrics_networks=networks) as api:
        api.address = "203.0.113.9"
        assert api.anonymous("GET", "/metrics").status == status
        api.address = "127.0.0.1"
        assert api.anonymous("GET", "/metrics").status == 401


def test_single_providers_are_shown_on_request_and_only_if_allowed(tmp_path: Path) -> None:
    with served(tmp_path) as api:
        api.host(HOST, "host", VCPU=8)
        refused = api.anonymous("GET", "/metrics?providers=1")
        assert refused.status == 403
        assert b"metrics_providers" in refused.body
        assert api.anonymous("GET", "/metrics?providers=0").status == 200
        assert b'hostname="host"' in api.call("GET", "/metrics?providers=1", headers={"Via": "1.1 p"}).body
    with served(tmp_path, plimsoll__metrics_providers=True) as api:
        labels = {"hostname": "host", "resourcetype": "VCPU"}
        assert api.scrape("?providers=1").value("openstack_placement_resource_total", **labels) == 8
        assert "openstack_placement_resource_total" not in api.scrape().names


def test_without_the_database_the_last_figures_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path) as api:
        api.host(HOST, "host", VCPU=8)

        def fail(_: object) -> None:
            raise Unreachable("gone")

        monkeypatch.setattr("plimsoll.storage.dialects.sqlite.SQLite.start_head_query", fail)
        scrape = api.scrape()
        assert scrape.value("plimsoll_database_up") == 0
        assert scrape.value("plimsoll_database_errors_total", reason="unreachable") == 1
        assert api.scrape().value("plimsoll_database_errors_total", reason="unreachable") == 2
        assert scrape.value("plimsoll_resource_capacity", resource_class="VCPU") == 8
        assert "plimsoll_head_sequence" not in scrape.names


def test_other_methods_are_a_405_and_head_has_no_body(tmp_path: Path) -> None:
    with served(tmp_path) as api:
        assert api.anonymous("POST", "/metrics").status == 405
        head = api.anonymous("HEAD", "/metrics")
        assert (head.status, head.body) == (200, b"")
        assert int(head.headers["content-length"]) > 1000


def test_metrics_can_be_switched_off(tmp_path: Path) -> None:
    with served(tmp_path, plimsoll__metrics=False) as api:
        assert api.anonymous("GET", "/metrics").status == 401
        assert api.get("/metrics").status == 404


def test_a_process_among_several_does_not_show_its_counters_as_those_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path) as api:
        api.has_several_processes = True
        assert not any(name.endswith(("_total", "_count")) for name in api.scrape().names)
        assert api.scrape().value("plimsoll_database_up") == 1
        assert caplog.text.count(DIRECTORY_VARIABLE) == 1
    (tmp_path / "counters").mkdir()
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "counters"))
    with served(tmp_path) as api:
        api.has_several_processes = True
        assert "plimsoll_claims_total" in api.scrape().names


def test_a_directory_that_does_not_exist_is_an_error_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match=DIRECTORY_VARIABLE), served(tmp_path):
        pass
