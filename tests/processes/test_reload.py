# SPDX-License-Identifier: Apache-2.0

"""SIGHUP: workers are replaced by new ones that read the configuration again, while clients send requests."""

import contextlib
import http.client
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.test_many_workers import claim, create_host
from tests.support.running import Service
from tests.support.waiting import TIMEOUT_SECONDS, eventually

CLIENTS = 3
PAUSE = 0.01
NOT_RELOADED = "Not reloaded, the service continues with the previous configuration"


class ConfiguredByFile(Service):
    """A service whose database is set in its file, so that a reload can change it."""

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if "CONNECTION" not in name}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("service")
    configure(directory)
    with ConfiguredByFile(directory, workers=2) as service:
        assert eventually(lambda: "listens on" in service.log())  # all workers listen
        yield service


def configure(directory: Path, log: str = "first.log", more: str = "") -> None:
    (directory / "placement.conf").write_text(
        f"[placement_database]\nconnection = sqlite:///{directory}/plimsoll.sqlite\n"
        f"[DEFAULT]\nlog_file = {directory / log}\n{more}\n"
    )


def read_log(service: Service, log: str) -> str:
    file = service.directory / log
    return file.read_text() if file.exists() else ""


class ClaimingClients:
    """Clients that claim repeatedly. They retry if a connection is closed without a response."""

    def __init__(self, service: Service, host: str) -> None:
        self._service = service
        self._host = host
        self._stop = threading.Event()
        self.statuses: list[int] = []
        self.refused: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def __enter__(self) -> "ClaimingClients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(TIMEOUT_SECONDS)

    def _run(self) -> None:
        with contextlib.closing(self._service.client()) as client:
            while not self._stop.wait(PAUSE):
                try:
                    self.statuses.append(claim(client, self._host)[0])
                except (http.client.RemoteDisconnected, ConnectionResetError):
                    continue
                except (OSError, http.client.HTTPException) as error:
                    self.refused.append(error)


def test_a_reload_applies_the_new_configuration_and_refuses_no_request(service: Service) -> None:
    host = create_host(service.client(), 1_000_000)
    before = service.worker_pids()
    with ClaimingClients(service, host) as clients:
        assert eventually(lambda: len(clients.statuses) > CLIENTS)
        configure(service.directory, "second.log", "debug = true\n[plimsoll]\nmax_body_bytes = 1024")
        os.kill(service.pid, signal.SIGHUP)
        assert eventually(lambda: "] Reloaded" in read_log(service, "second.log")), service.log()
        after_reload = len(clients.statuses)
        assert eventually(lambda: len(clients.statuses) > after_reload + CLIENTS)
    assert clients.refused == []
    assert set(clients.statuses) == {204}
    assert len(service.worker_pids()) == 2
    assert not set(service.worker_pids()) & set(before)
    client = service.client()
    _, usages = client.call("GET", f"/resource_providers/{host}/usages")
    # Claims whose responses did not arrive may be stored too.
    assert len(clients.statuses) <= usages["usages"]["VCPU"] <= len(clients.statuses) + 2 * CLIENTS
    assert client.call("POST", "/resource_providers", {"name": "x" * 2000})[0] == 413
    assert "DEBUG placement.requestlog" in read_log(service, "second.log")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("[plimsoll]\nthreads = none", ": [plimsoll] threads: "),
        ("log_config_append = nowhere.conf", ": [DEFAULT] log_config_append: nowhere.conf: No such file"),
        ("[oslo_policy]\npolicy_file = broken.yaml", "The policy cannot be used: "),
        ("[placement_database]\nconnection = nonsense://", "nonsense databases are not supported"),
        ("[placement_database]\nconnection =", "[placement_database] connection is required"),
        # Only the new worker finds this error.
        ("[placement_database]\nconnection = sqlite:////proc/none/x.sqlite", "/proc/none"),
    ],
)
def test_errors_of_the_new_configuration_are_logged_and_the_service_continues(
    service: Service, settings: str, reason: str
) -> None:
    (service.directory / "broken.yaml").write_text("{{{")
    before = service.worker_pids()
    configure(service.directory, "third.log", settings)
    errors_before = all_logs(service).count(NOT_RELOADED)
    os.kill(service.pid, signal.SIGHUP)
    assert eventually(lambda: all_logs(service).count(NOT_RELOADED) > errors_before), all_logs(service)
    assert reason in all_logs(service)
    assert eventually(lambda: service.worker_pids() == before)
    configure(service.directory)


def all_logs(service: Service) -> str:
    return "".join(read_log(service, log) for log in ("first.log", "second.log", "third.log", "log"))
