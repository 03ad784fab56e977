# SPDX-License-Identifier: Apache-2.0

"""SIGHUP: workers are replaced by others that read the configuration anew, while clients go on asking."""

import contextlib
import http.client
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.test_many_workers import a_host, claim
from tests.support.running import Service
from tests.support.waiting import PATIENCE, eventually

CLIENTS = 3
PAUSE = 0.01
GOES_ON = "Not reloaded, the service goes on as it was"


class ConfiguredByFile(Service):
    """A service whose database its file names, so that a reload can change it."""

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if "CONNECTION" not in name}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("service")
    configure(directory)
    with ConfiguredByFile(directory, workers=2) as service:
        assert eventually(lambda: "listens on" in service.log())  # all of its workers do
        yield service


def configure(directory: Path, log: str = "first.log", more: str = "") -> None:
    (directory / "placement.conf").write_text(
        f"[placement_database]\nconnection = sqlite:///{directory}/plimsoll.sqlite\n"
        f"[DEFAULT]\nlog_file = {directory / log}\n{more}\n"
    )


def said(service: Service, log: str) -> str:
    file = service.directory / log
    return file.read_text() if file.exists() else ""


class Steady:
    """Clients who claim over and over. A connection that is closed without an answer is no answer: they ask again."""

    def __init__(self, service: Service, host: str) -> None:
        self._service = service
        self._host = host
        self._over = threading.Event()
        self.answers: list[int] = []
        self.refused: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def __enter__(self) -> "Steady":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _run(self) -> None:
        with contextlib.closing(self._service.client()) as client:
            while not self._over.wait(PAUSE):
                try:
                    self.answers.append(claim(client, self._host)[0])
                except (http.client.RemoteDisconnected, ConnectionResetError):
                    continue
                except (OSError, http.client.HTTPException) as error:
                    self.refused.append(error)


def test_a_reload_takes_up_the_new_configuration_and_refuses_nobody(service: Service) -> None:
    host = a_host(service.client(), 1_000_000)
    before = service.workers_now()
    with Steady(service, host) as steady:
        assert eventually(lambda: len(steady.answers) > CLIENTS)
        configure(service.directory, "second.log", "debug = true\n[plimsoll]\nmax_body_bytes = 1024")
        os.kill(service.pid, signal.SIGHUP)
        assert eventually(lambda: "] Reloaded" in said(service, "second.log")), service.log()
        after_reload = len(steady.answers)
        assert eventually(lambda: len(steady.answers) > after_reload + CLIENTS)
    assert steady.refused == []
    assert set(steady.answers) == {204}
    assert len(service.workers_now()) == 2
    assert not set(service.workers_now()) & set(before)
    client = service.client()
    _, answer = client.call("GET", f"/resource_providers/{host}/usages")
    # What was done by a worker whose answer did not arrive is there as well.
    assert len(steady.answers) <= answer["usages"]["VCPU"] <= len(steady.answers) + 2 * CLIENTS
    assert client.call("POST", "/resource_providers", {"name": "x" * 2000})[0] == 413
    assert "DEBUG placement.requestlog" in said(service, "second.log")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("[plimsoll]\nthreads = none", ": [plimsoll] threads: "),
        ("log_config_append = nowhere.conf", ": [DEFAULT] log_config_append: nowhere.conf: No such file"),
        ("[oslo_policy]\npolicy_file = broken.yaml", "The policy cannot be used: "),
        ("[placement_database]\nconnection = nonsense://", "nonsense databases are not supported"),
        ("[placement_database]\nconnection =", "[placement_database] connection is required"),
        # Known to the new worker alone.
        ("[placement_database]\nconnection = sqlite:////proc/none/x.sqlite", "/proc/none"),
    ],
)
def test_what_is_wrong_with_the_new_configuration_is_said_and_the_service_goes_on(
    service: Service, settings: str, reason: str
) -> None:
    (service.directory / "broken.yaml").write_text("{{{")
    before = service.workers_now()
    configure(service.directory, "third.log", settings)
    complaints = all_said(service).count(GOES_ON)
    os.kill(service.pid, signal.SIGHUP)
    assert eventually(lambda: all_said(service).count(GOES_ON) > complaints), all_said(service)
    assert reason in all_said(service)
    assert eventually(lambda: service.workers_now() == before)
    configure(service.directory)


def all_said(service: Service) -> str:
    return "".join(said(service, log) for log in ("first.log", "second.log", "third.log", "log"))
