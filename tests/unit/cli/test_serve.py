# SPDX-License-Identifier: Apache-2.0

"""`plimsoll serve` refuses unsafe or wrong settings before it starts workers, and prints what it started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main
from plimsoll.server import supervisor
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.support.databases import run_sql


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use an own directory and environment: `serve` passes settings to its workers as environment variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "plimsoll.config.logging_setup.set_up", lambda _: None
    )  # pytest configures the log of this process
    before = dict(os.environ)
    for name in before:
        if name.startswith(("OS_", "PLIMSOLL_")):
            del os.environ[name]
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Listen]:
    """Record the addresses instead of starting servers, and call `when_ready` immediately."""
    calls: list[Listen] = []

    def run(
        listen: Listen, limits: Limits, when_ready: Callable[[], None], read_limits: Callable[[], Limits]
    ) -> None:
        assert read_limits() == limits
        calls.append(listen)
        when_ready()

    monkeypatch.setattr(supervisor, "run", run)
    return calls


def name_database(directory: Path) -> None:
    os.environ["OS_PLACEMENT_DATABASE__CONNECTION"] = f"sqlite:///{directory}/placement.sqlite"
    os.environ["OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP"] = "true"


def serve(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["serve", "--port", "0", *arguments])


def test_development_needs_nothing_and_prints_a_line_to_try(served: list[Listen], tmp_path: Path) -> None:
    done = serve("--dev")
    assert done.exit_code == 0, done.output
    (listen,) = served
    assert f"listens on http://127.0.0.1:{listen.port}\n" in done.stderr
    assert f"database  {tmp_path}/var/plimsoll.sqlite\n" in done.stderr
    assert (
        f"  curl -s -H 'x-auth-token: admin' http://127.0.0.1:{listen.port}/resource_providers\n"
        in done.stderr
    )
    assert done.stdout == ""
    assert migrate.is_current(Database(f"sqlite:///{tmp_path}/var/plimsoll.sqlite"))


def test_a_prefix_is_part_of_the_address(served: list[Listen]) -> None:
    done = serve("--dev", "--prefix", "placement/")
    assert f"listens on http://127.0.0.1:{served[0].port}/placement\n" in done.stderr
    assert f":{served[0].port}/placement/resource_providers\n" in done.stderr
    assert os.environ["OS_PLIMSOLL__PREFIX"] == "placement/"


def test_development_can_have_another_state_path(served: list[Listen], tmp_path: Path) -> None:
    os.environ["OS_DEFAULT__STATE_PATH"] = str(tmp_path / "elsewhere")
    assert serve("--dev").exit_code == 0
    assert (tmp_path / "elsewhere" / "plimsoll.sqlite").exists()


def test_development_never_uses_the_database_of_a_configuration_file(
    served: list[Listen], tmp_path: Path
) -> None:
    settings = tmp_path / "placement.conf"
    settings.write_text(f"[placement_database]\nconnection = sqlite:///{tmp_path}/production.sqlite\n")
    assert serve("--dev", "--config-file", str(settings)).exit_code == 0
    assert not (tmp_path / "production.sqlite").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_noauth2_is_refused_on_other_addresses(served: list[Listen], host: str) -> None:
    done = serve("--dev", "--host", host)
    assert (done.exit_code, served) == (1, [])
    assert f"every client that can reach {host} can change everything" in done.stderr
    assert "[plimsoll]allow_insecure_noauth = true" in done.stderr


def test_noauth2_is_served_on_other_addresses_if_the_operator_allows_it(served: list[Listen]) -> None:
    os.environ["OS_PLIMSOLL__ALLOW_INSECURE_NOAUTH"] = "true"
    assert serve("--dev", "--host", "0.0.0.0").exit_code == 0
    assert [listen.address for listen in served] == ["0.0.0.0"]


def test_with_keystone_every_address_is_accepted_and_no_token_is_suggested(
    served: list[Listen], tmp_path: Path
) -> None:
    name_database(tmp_path)
    done = serve("--host", "0.0.0.0")
    assert done.exit_code == 0, done.output
    assert "keystone" in done.stderr
    assert "curl" not in done.stderr


def test_wrong_settings_for_keystone_stop_the_start(served: list[Listen], tmp_path: Path) -> None:
    name_database(tmp_path)
    os.environ["OS_KEYSTONE_AUTHTOKEN__AUTH_TYPE"] = "passwrod"
    done = serve()
    assert (done.exit_code, served) == (1, [])
    assert "[keystone_authtoken] auth_type: there is no plugin 'passwrod'" in done.stderr
    assert "passwrod" in done.stderr


def test_missing_settings_for_keystone_are_reported(served: list[Listen], tmp_path: Path) -> None:
    name_database(tmp_path)
    assert "[keystone_authtoken] has no auth_type" in serve().stderr
    os.environ["OS_KEYSTONE_AUTHTOKEN__AUTH_TYPE"] = "password"
    os.environ["OS_KEYSTONE_AUTHTOKEN__AUTH_URL"] = "http://keystone.example/v3"
    assert "  identity  keystone\n" in serve().stderr


def test_a_host_name_is_resolved_before_it_is_checked(served: list[Listen]) -> None:
    assert serve("--dev", "--host", "localhost").exit_code == 0
    assert served[0].address in ("127.0.0.1", "::1")


def test_a_port_in_use_is_refused(served: list[Listen]) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["serve", "--dev", "--port", port])
    assert (done.exit_code, served) == (1, [])
    assert f"Cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr


def test_a_schema_is_not_changed_without_sync_on_startup(served: list[Listen], tmp_path: Path) -> None:
    os.environ["OS_PLACEMENT_DATABASE__CONNECTION"] = f"sqlite:///{tmp_path}/mine.sqlite"
    done = serve()
    assert (done.exit_code, served) == (1, [])
    assert "plimsoll db sync" in done.stderr

    os.environ["OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP"] = "true"
    assert serve().exit_code == 0
    assert migrate.is_current(Database(f"sqlite:///{tmp_path}/mine.sqlite"))


def test_findings_of_config_check_are_logged(
    served: list[Listen], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name_database(tmp_path)
    file = tmp_path / "placement.conf"
    file.write_text("[placemnt]\nmax_allocation_candidates = 5\n[oslo_concurrency]\nlock_path = /x\n")
    caplog.set_level("INFO")
    assert serve("--config-file", str(file)).exit_code == 0
    logged = [
        (each.levelname, each.getMessage()) for each in caplog.records if "Settings:" in each.getMessage()
    ]
    warned, noted = logged[:2]
    assert warned == (
        "WARNING",
        f"Settings: {file}:2: [placemnt]: no such section, did you mean [placement]?",
    )
    assert noted == ("INFO", f"Settings: {file}:4: [oslo_concurrency]: no such section")


def test_settings_made_by_dev_are_not_logged(served: list[Listen], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    assert serve("--dev").exit_code == 0
    assert "Settings:" not in caplog.text


def test_for_a_database_of_an_older_placement_a_sync_is_suggested(
    served: list[Listen], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/placement.sqlite"
    os.environ["OS_PLACEMENT_DATABASE__CONNECTION"] = url
    migrate.sync(Database(url))
    run_sql(url, "INSERT INTO traits (name) VALUES ('CUSTOM_X')")
    migrate.stamp(Database(url), "422ece571366")
    done = serve()
    assert (done.exit_code, served) == (1, [])
    assert "at revision 422ece571366 of the Placement schema; this release needs a082b8bb98d0" in done.stderr
    assert "Run `plimsoll db sync`" in done.stderr


def test_for_a_database_of_a_newer_plimsoll_a_sync_is_not_suggested(
    served: list[Listen], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/placement.sqlite"
    os.environ["OS_PLACEMENT_DATABASE__CONNECTION"] = url
    migrate.sync(Database(url))
    run_sql(url, "UPDATE plimsoll_alembic_version SET version_num = '9999'")
    done = serve()
    assert (done.exit_code, served) == (1, [])
    assert "A newer Plimsoll made it" in done.stderr
    assert "db sync" not in done.stderr


def test_workers_get_the_configuration_files(served: list[Listen], tmp_path: Path) -> None:
    for name in ("a.conf", "b.conf"):
        (tmp_path / name).write_text("[plimsoll]\nthreads = 3\n")
    done = serve("--dev", "--workers", "2", "--config-file", "a.conf", "--config-file", "b.conf")
    assert done.exit_code == 0, done.output
    assert os.environ["PLIMSOLL_CONFIG_FILES"] == f"{tmp_path}/a.conf:{tmp_path}/b.conf"
    assert served[0].workers == 2
    assert "up to 3 requests at a time" in done.output


def test_an_ipv6_address_is_in_brackets() -> None:
    assert Listen("::1", 8778, 1).url == "http://[::1]:8778"


def test_the_suggested_command_works_and_a_stop_checkpoints_the_database(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plimsoll.cli", "serve", "--dev", "--port", "0"]
    log = tmp_path / "log"
    with log.open("w") as standard_output:
        service = subprocess.Popen(
            command,
            stdout=standard_output,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "40"},
        )
    try:
        assert service.stderr is not None
        for line in service.stderr:
            if line.startswith("  curl"):
                break
        response = subprocess.run(line.strip(), shell=True, capture_output=True, text=True, timeout=30)
        assert response.stdout == '{"resource_providers":[]}'
    finally:
        service.terminate()
        service.communicate(timeout=30)
    assert service.returncode == 0
    assert '"GET /resource_providers" status: 200' in log.read_text(), "the log goes to the standard output"
    left = {file.name for file in (tmp_path / "var").iterdir()}
    assert left == {"plimsoll.sqlite", "plimsoll.sqlite.writers", "plimsoll.sqlite.writers.next"}
