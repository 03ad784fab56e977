# SPDX-License-Identifier: Apache-2.0

"""The application in servers: imported as a module, loaded from a file, and served by the command."""

from __future__ import annotations

import http.client
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.as_placement.installation import Installation, clean_environment
from tests.support.running import Client
from tests.support.servers.places import free_port

SECONDS = 120

LOAD_AS_MOD_WSGI_DOES = """
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from wsgiref.simple_server import make_server

loader = SourceFileLoader("_mod_wsgi_0123", sys.argv[1])
module = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(module)
make_server("127.0.0.1", int(sys.argv[2]), module.application).serve_forever()
"""

LOAD_BY_NAME = """
import sys
from importlib import import_module
from wsgiref.simple_server import make_server

module, _, name = sys.argv[1].partition(":")
make_server("127.0.0.1", int(sys.argv[2]), getattr(import_module(module), name)).serve_forever()
"""


@pytest.fixture(scope="module")
def settings(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A directory with a placement.conf, and a database created by `placement-manage`."""
    directory = tmp_path_factory.mktemp("etc")
    (directory / "placement.conf").write_text(
        f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite:///{directory}/placement.sqlite\n"
    )
    settings = {"OS_PLACEMENT_CONFIG_DIR": str(directory)}
    done = installation.run("placement-manage", "db", "sync", **settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return settings


@contextmanager
def served(command: list[str], port: int, settings: dict[str, str], log: Path) -> Iterator[Client]:
    """Run the command during the block; then SIGTERM must stop it."""
    with log.open("wb") as written:
        process = subprocess.Popen(
            command, env=clean_environment() | settings, cwd=log.parent, stdout=written, stderr=written
        )
    try:
        client = Client(port)
        deadline = time.monotonic() + SECONDS
        while not is_serving(client):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield client
        client.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)


def is_serving(client: Client) -> bool:
    try:
        return client.call("GET", "/")[0] == 200
    except (OSError, http.client.HTTPException):
        client.close()
        return False


def make_a_provider(client: Client) -> None:
    name = str(uuid4())
    status, created = client.call("POST", "/resource_providers", {"name": name})
    assert (status, created["name"]) == (200, name)
    assert client.call("GET", f"/resource_providers/{created['uuid']}")[1]["name"] == name


def test_a_server_imports_the_module_by_name(
    installation: Installation, settings: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    command = [str(installation.bin / "python"), "-c", LOAD_BY_NAME, "placement.wsgi.api:application"]
    with served([*command, str(port)], port, settings, tmp_path / "log") as client:
        make_a_provider(client)


def test_a_server_loads_placement_api_as_a_file(
    installation: Installation, settings: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    command = [str(installation.bin / "python"), "-c", LOAD_AS_MOD_WSGI_DOES]
    script = str(installation.bin / "placement-api")
    with served([*command, script, str(port)], port, settings, tmp_path / "log") as client:
        make_a_provider(client)


def test_placement_api_serves(installation: Installation, settings: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    command = [str(installation.bin / "placement-api"), "--host", "127.0.0.1", "--port", str(port)]
    with served(command, port, settings, tmp_path / "log") as client:
        make_a_provider(client)
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert log.count("Full load of the database") == 1, "a worker loads the application, and once"
