# SPDX-License-Identifier: Apache-2.0

"""The service in the process of those who ask: `loadapp`, `PlacementDirect` and the fixtures, used as nova's tests do."""

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

WANTED = "not run: PlacementDirect and the fixtures need {}; `make install` brings it"
pytest.importorskip("fixtures", reason=WANTED.format("fixtures"))
pytest.importorskip("wsgi_intercept", reason=WANTED.format("wsgi-intercept"))

from oslo_config import fixture as config_fixture  # noqa: E402  # they need what is asked for above
from placement import direct  # noqa: E402
from placement.tests import fixtures as of_database  # noqa: E402
from placement.tests.functional.fixtures import capture  # noqa: E402
from placement.tests.functional.fixtures.placement import PlacementFixture  # noqa: E402


@pytest.fixture
def prepared() -> Iterator[config_fixture.Config]:
    """A configuration and its database, and nothing else: as nova prepares them."""
    fixture = PlacementFixture(conf_fixture=config_fixture.Config(cfg.ConfigOpts()), use_intercept=False)
    with fixture.conf_fixture, fixture:
        assert not hasattr(fixture, "endpoint")
        yield fixture.conf_fixture


def ask(app: Any, path: str) -> str:
    answered: list[str] = []
    request = environ("GET", path, b"", [("x-auth-token", "admin")])
    list(app(request, lambda status, headers, raised=None: answered.append(status)))
    return answered[0]


def test_loadapp_takes_a_configuration_that_others_made(prepared: config_fixture.Config) -> None:
    assert ask(deploy.loadapp(prepared.conf), "/resource_providers") == "200 OK"
    assert ask(deploy.loadapp(config=prepared.conf, project_name="placement"), "/") == "200 OK"


def test_loadapp_wants_a_database_to_be_named_and_to_be_ready(tmp_path: Path) -> None:
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
    assert ask(deploy.loadapp(conf), "/resource_providers") == "200 OK"


def test_direct_asks_as_an_administrator(prepared: config_fixture.Config) -> None:
    with direct.PlacementDirect(prepared.conf) as client:
        assert client.get("/").json()["versions"][0]["id"] == "v1.0"
        assert client.post("/resource_providers", json={"name": "host"}).status_code == 201
        (provider,) = client.get("/resource_providers").json()["resource_providers"]
        assert "root_provider_uuid" not in provider, "no version asked for is the first"
        asked = client.get("/resource_providers", microversion="1.14").json()["resource_providers"]
        assert asked[0]["root_provider_uuid"] == provider["uuid"]
        assert client.post("/resource_providers", json={"name": "x", "cowsay": "moo"}).status_code == 400
        assert client.get("/resource_providers", headers={"x-auth-token": "somebody"}).status_code == 403
    with direct.PlacementDirect(prepared.conf, latest_microversion=True) as client:
        (provider,) = client.get("/resource_providers").json()["resource_providers"]
        assert provider["root_provider_uuid"] == provider["uuid"]


def test_direct_may_be_given_another_application_and_another_client(prepared: config_fixture.Config) -> None:
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


def test_outside_of_the_block_nobody_answers(prepared: config_fixture.Config) -> None:
    with direct.PlacementDirect(prepared.conf) as client:
        assert client.get("/").status_code == 200
        url = str(client.endpoint_override)
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=5)


def test_the_fixture_answers_at_its_endpoint() -> None:
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
        assert reshaped.status_code == 204, "the administrator of a test plays every service"
        assert '"GET /placement/resource_providers" status: 200' in log.output


def test_a_service_can_be_started_again_on_the_same_database() -> None:
    with config_fixture.Config(cfg.ConfigOpts()) as conf_fixture:
        placement_conf.register_opts(conf_fixture.conf)
        with of_database.Database(conf_fixture, set_config=True):
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


def test_a_database_in_memory_is_a_file_for_the_time() -> None:
    with config_fixture.Config(cfg.ConfigOpts()) as conf_fixture:
        placement_conf.register_opts(conf_fixture.conf)
        conf_fixture.config(connection="sqlite://", group="placement_database")
        with of_database.Database(conf_fixture, set_config=True):
            file = Path(conf_fixture.conf.placement_database.connection.removeprefix("sqlite:///"))
            assert file.exists()
        assert not file.exists()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A placement.conf in which nothing is set, and which no variable contradicts."""
    for name in [name for name in os.environ if name.startswith("OS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "placement.conf"
    file.touch()
    return file


def placement_api(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """What the command exits with."""
    monkeypatch.setattr("sys.argv", ["placement-api", *words])
    with pytest.raises(SystemExit) as end:
        sys.exit(api.main())
    return end.value.code


def test_nothing_is_served_while_nobody_names_a_database(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unnamed = f"{settings}: [placement_database] connection is required, and there is no section"
    with pytest.raises(loader.ConfigError) as problem:
        init_application()
    assert str(problem.value).startswith(unnamed)
    assert placement_api(monkeypatch, "--port", "0") == 1
    assert capsys.readouterr().err.startswith(f"Error: {unnamed}")


def test_placement_api_does_not_believe_everyone_everywhere(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = settings.with_name("placement.sqlite")
    settings.write_text(
        f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite:///{database}\n"
    )
    assert placement_api(monkeypatch, "--port", "0") == 1
    assert "With auth_strategy = noauth2 anybody who can reach 0.0.0.0" in capsys.readouterr().err


def test_placement_api_explains_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert placement_api(monkeypatch, "--help") == 0
    said = capsys.readouterr().out
    assert "[--port PORT] [--host HOST]" in said
    assert "Example: placement-api --port 8778" in said
    assert placement_api(monkeypatch, "--port", "many") == 2
