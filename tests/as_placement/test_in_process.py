# SPDX-License-Identifier: Apache-2.0

"""The service in the process of its client: `loadapp`, `PlacementDirect` and the fixtures, used as in nova's tests."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1 import adapter, session
from oslo_config import cfg
from placement import conf as placement_conf
from placement import deploy
from placement.cmd import api
from placement.wsgi import init_application

from plimsoll.config import loader
from plimsoll.storage.schema.migrate import SchemaError
from tests.support.wsgi import environ

MISSING = "not run: PlacementDirect and the fixtures need {}; `make install` installs it"
pytest.importorskip("fixtures", reason=MISSING.format("fixtures"))
pytest.importorskip("wsgi_intercept", reason=MISSING.format("wsgi-intercept"))

from oslo_config import fixture as config_fixture  # noqa: E402  # they need the packages checked above
from placement import direct  # noqa: E402
from placement.tests import fixtures as database_fixtures  # noqa: E402
from placement.tests.functional.fixtures import capture  # noqa: E402
from placement.tests.functional.fixtures.placement import PlacementFixture  # noqa: E402


@pytest.fixture
def prepared() -> Iterator[config_fixture.Config]:
    """A configuration with its database, but no application, as nova's tests prepare it."""
    fixture = PlacementFixture(conf_fixture=config_fixture.Config(cfg.ConfigOpts()), use_intercept=False)
    with fixture.conf_fixture, fixture:
        assert not hasattr(fixture, "endpoint")
        yield fixture.conf_fixture


def get_status(app: Any, path: str) -> str:
    statuses: list[str] = []
    request = environ("GET", path, b"", [("x-auth-token", "admin")])
    list(app(request, lambda status, headers, raised=None: statuses.append(status)))
    return statuses[0]


def test_loadapp_accepts_a_configuration_of_another_program(prepared: config_fixture.Config) -> None:
    assert get_status(deploy.loadapp(prepared.conf), "/resource_providers") == "200 OK"
    assert get_status(deploy.loadapp(config=prepared.conf, project_name="placement"), "/") == "200 OK"


def test_loadapp_requires_a_configured_and_prepared_database(tmp_path: Path) -> None:
    conf = cfg.ConfigOpts()
    placement_conf.register_opts(conf)
    conf([], default_config_files=[])
    with pytest.raises(loader.ConfigError, match=r"\[placement_database\] connection is required"):
        deploy.loadapp(conf)
    conf.set_override("connection", f"sqlite:///{tmp_path}/empty.sqlite", group="placement_database")
    with pytest.raises(SchemaError, match="is not ready for this release"):
        deploy.loadapp(conf)
    conf.set_override("sync_on_startup", True, group="placement_database")
    conf.set_override("auth_strategy", "noauth2", group="api")
    assert get_status(deploy.loadapp(conf), "/resource_providers") == "200 OK"


def test_direct_sends_requests_as_an_administrator(prepared: config_fixture.Config) -> None:
    with direct.PlacementDirect(prepared.conf) as client:
        assert client.get("/").json()["versions"][0]["id"] == "v1.0"
        assert client.post("/resource_providers", json={"name": "host"}).status_code == 201
        (provider,) = client.get("/resource_providers").json()["resource_providers"]
        assert "root_provider_uuid" not in provider, "a request without a version has the first one"
        listed = client.get("/resource_providers", microversion="1.14").json()["resource_providers"]
        assert listed[0]["root_provider_uuid"] == provider["uuid"]
        assert client.post("/resource_providers", json={"name": "x", "cowsay": "moo"}).status_code == 400
        assert client.get("/resource_providers", headers={"x-auth-token": "somebody"}).status_code == 403
    with direct.PlacementDirect(prepared.conf, latest_microversion=True) as client:
        (provider,) = client.get("/resource_providers").json()["resource_providers"]
        assert provider["root_provider_uuid"] == provider["uuid"]


def test_direct_can_have_another_application_and_another_client(prepared: config_fixture.Config) -> None:
    class Wrapped(direct.PlacementDirect):  # type: ignore[misc]  # for mypy `placement` is the reference
        def __enter__(self) -> Any:
            return {"adapter": super().__enter__()}

    def busy(environ: Any, start_response: Any) -> list[bytes]:
        start_response("503 Service Unavailable", [])
        return [b""]

    intercepted = Wrapped(prepared.conf, latest_microversion=True)
    intercepted.app = lambda: busy
    with intercepted as client:
        assert client["adapter"].get("/resource_providers").status_code == 503


def test_outside_of_the_block_requests_fail(prepared: config_fixture.Config) -> None:
    with direct.PlacementDirect(prepared.conf) as client:
        assert client.get("/").status_code == 200
        url = str(client.endpoint_override)
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=5)


def test_the_fixture_serves_its_endpoint() -> None:
    with PlacementFixture(token="admin") as fixture, capture.Logging() as log:
        client = adapter.Adapter(
            session.Session(auth=None, session=requests.Session()),
            endpoint_override=fixture.endpoint,
            raise_exc=False,
        )
        headers = {"x-auth-token": fixture.token, "OpenStack-API-Version": "placement 1.39"}
        assert client.get("/resource_providers", headers=headers).json() == {"resource_providers": []}
        assert client.get("/resource_providers").status_code == 401
        host = client.post("/resource_providers", json={"name": "host"}, headers=headers).json()["uuid"]
        shape = {host: {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 1}}}}
        reshaped = client.post("/reshaper", json={"inventories": shape, "allocations": {}}, headers=headers)
        assert reshaped.status_code == 204, "in tests the administrator has the rights of every service"
        assert '"GET /placement/resource_providers" status: 200' in log.output


def test_a_service_can_be_started_again_on_the_same_database() -> None:
    with config_fixture.Config(cfg.ConfigOpts()) as conf_fixture:
        placement_conf.register_opts(conf_fixture.conf)
        with database_fixtures.Database(conf_fixture, set_config=True):
            for names in ([], ["host"]):
                with PlacementFixture(conf_fixture=conf_fixture, db=False, register_opts=False) as fixture:
                    headers = {"x-auth-token": fixture.token}
                    url = f"{fixture.endpoint}/resource_providers"
                    found = requests.get(url, headers=headers, timeout=5).json()["resource_providers"]
                    assert [provider["name"] for provider in found] == names
                    requests.post(url, json={"name": "host"}, headers=headers, timeout=5)


def test_nothing_stays_open() -> None:
    def once() -> tuple[int, int]:
        with PlacementFixture() as fixture:
            url, headers = f"{fixture.endpoint}/resource_providers", {"x-auth-token": fixture.token}
            assert requests.post(url, json={"name": "host"}, headers=headers, timeout=5).status_code == 201
            with direct.PlacementDirect(fixture.conf_fixture.conf) as client:
                assert client.post("/resource_providers", json={"name": "other"}).status_code == 201
        gc.collect()
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    assert once() == once()


def test_a_subclass_may_name_the_database(tmp_path: Path) -> None:
    file = tmp_path / "named.sqlite"

    class OnAFile(PlacementFixture):  # type: ignore[misc]  # for mypy `placement` is the reference
        def _configure_placement(self, conf_fixture: config_fixture.Config) -> None:
            conf_fixture.config(connection=f"sqlite:///{file}", group="placement_database")

    with OnAFile() as fixture:
        url = f"{fixture.endpoint}/resource_providers"
        assert requests.get(url, headers={"x-auth-token": "admin"}, timeout=5).status_code == 200
    assert file.exists()


def test_a_database_in_memory_is_replaced_by_a_temporary_file() -> None:
    with config_fixture.Config(cfg.ConfigOpts()) as conf_fixture:
        placement_conf.register_opts(conf_fixture.conf)
        conf_fixture.config(connection="sqlite://", group="placement_database")
        with database_fixtures.Database(conf_fixture, set_config=True):
            file = Path(conf_fixture.conf.placement_database.connection.removeprefix("sqlite:///"))
            assert file.exists()
        assert not file.exists()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty placement.conf, without environment variables that override it."""
    for name in [name for name in os.environ if name.startswith("OS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "placement.conf"
    file.touch()
    return file


def placement_api(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """Run the command and return its exit status."""
    monkeypatch.setattr("sys.argv", ["placement-api", *arguments])
    with pytest.raises(SystemExit) as end:
        sys.exit(api.main())
    return end.value.code


def test_nothing_starts_without_a_configured_database(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = f"{settings}: [placement_database] connection is required, and there is no section"
    with pytest.raises(loader.ConfigError) as problem:
        init_application()
    assert str(problem.value).startswith(error)
    assert placement_api(monkeypatch, "--port", "0") == 1
    assert capsys.readouterr().err.startswith(f"Error: {error}")


def test_placement_api_refuses_noauth2_on_all_addresses(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = settings.with_name("placement.sqlite")
    settings.write_text(
        f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite:///{database}\n"
    )
    assert placement_api(monkeypatch, "--port", "0") == 1
    assert "With auth_strategy = noauth2 every client that can reach 0.0.0.0" in capsys.readouterr().err


def test_placement_api_prints_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert placement_api(monkeypatch, "--help") == 0
    output = capsys.readouterr().out
    assert "[--port PORT] [--host HOST]" in output
    assert "Example: placement-api --port 8778" in output
    assert placement_api(monkeypatch, "--port", "many") == 2
