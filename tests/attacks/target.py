# SPDX-License-Identifier: Apache-2.0

"""The service under attack: `plimsoll serve` with one worker and a small cloud."""

from __future__ import annotations

import json
import subprocess
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.attacks.sockets import RawConnection, Response, request
from tests.support.running import Service

DEVICES = 32
DEVICE_UNITS = 8
HOSTS = 20
_SAMPLE_SECONDS = 0.02


class Target(Service):
    """Settings are environment variables, `OS_PLIMSOLL__THREADS` for instance."""

    def __init__(
        self, directory: Path, database: str | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(directory, workers=1, database=database)
        self._settings = dict(settings or {})
        self.token = "admin"
        self.host = str(uuid.uuid4())
        """A provider for point reads."""
        self.tree = str(uuid.uuid4())
        """The root of the devices."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"OS_PLIMSOLL__VERIFY_INTERVAL": "0"} | self._settings

    def stop(self) -> None:
        """Kill after a short wait: a worker that an attack has blocked does not end by itself."""
        try:
            super().stop()
        except subprocess.TimeoutExpired:
            self.kill()

    @property
    def worker(self) -> int:
        """The worker process; during a reload the newer one."""
        return self.worker_pids()[-1]

    def connect(self, seconds: float = 20.0, receive_buffer: int | None = None) -> RawConnection:
        return RawConnection(self.port, seconds, receive_buffer)

    def send(
        self, method: str, path: str, document: Any = None, *, seconds: float = 60.0, version: str = "1.39"
    ) -> Response:
        """One request on a connection of its own, with a valid token."""
        body = None if document is None else json.dumps(document).encode()
        with self.connect(seconds) as connection:
            connection.send(request(method, path, body, token=self.token, version=version))
            return connection.response(method)

    def build_cloud(self) -> Self:
        """Hosts with VCPU and one tree of devices."""
        self._must("PUT", "/resource_classes/CUSTOM_DEVICE")
        for number in range(HOSTS):
            each = self.host if number == 0 else str(uuid.uuid4())
            self.add_provider(f"host{number}", each, {"VCPU": 64, "MEMORY_MB": 4096})
        self.add_provider("devices", self.tree, {"VCPU": 64})
        for number in range(DEVICES):
            inventory = {"CUSTOM_DEVICE": DEVICE_UNITS}
            self.add_provider(f"device{number}", str(uuid.uuid4()), inventory, self.tree)
        return self

    def add_provider(
        self, name: str, identity: str, totals: Mapping[str, int], parent: str | None = None
    ) -> None:
        self._must(
            "POST", "/resource_providers", {"name": name, "uuid": identity, "parent_provider_uuid": parent}
        )
        inventories = {resource_class: {"total": total} for resource_class, total in totals.items()}
        self._must(
            "PUT",
            f"/resource_providers/{identity}/inventories",
            {"resource_provider_generation": 0, "inventories": inventories},
        )

    def state(self) -> bytes:
        """All that a client can read of the hosts and devices: equal before and after an attack."""
        paths = ["/resource_providers", f"/resource_providers/{self.host}/usages", "/resource_classes"]
        return b"".join(self.send("GET", path).body for path in paths)

    def rss(self) -> int:
        """Resident bytes of the worker."""
        pages = int(Path(f"/proc/{self.worker}/statm").read_text().split()[1])
        return pages * 4096

    def exceptions(self) -> int:
        """How many tracebacks the log has."""
        return self.log().count("Traceback")

    def _must(self, method: str, path: str, document: Any = None) -> None:
        response = self.send(method, path, document)
        assert response.status < 300, (method, path, response.status, response.body)


class MemoryPeak:
    """Samples the worker's memory while it is open."""

    def __init__(self, target: Target) -> None:
        self._file = Path(f"/proc/{target.worker}/statm")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.bytes = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(5)

    def _sample(self) -> None:
        while not self._over.wait(_SAMPLE_SECONDS):
            try:
                pages = int(self._file.read_text().split()[1])
            except (OSError, IndexError):  # the worker has ended
                return
            self.bytes = max(self.bytes, pages * 4096)
