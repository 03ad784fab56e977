# SPDX-License-Identifier: Apache-2.0

"""A real memcached, on a port of its own, which can be stopped and started again, empty."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from typing import Self

from tests.support.servers.places import free_port
from tests.support.servers.programs import Missing, find

START_SECONDS = 30


def missing() -> str | None:
    """Return the reason if no memcached can be started on this machine."""
    try:
        find("memcached")
    except Missing as reason:
        return str(reason)
    return None


class Memcached:
    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> Self:
        account = ["-u", "nobody"] if os.geteuid() == 0 else []
        place = ["-l", "127.0.0.1", "-p", str(self.port), "-U", "0", "-m", "16"]
        self._process = subprocess.Popen([find("memcached"), *place, *account], stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_serving():
            assert self._process.poll() is None, "memcached ended while it started"
            assert time.monotonic() < deadline, "memcached does not respond"
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(START_SECONDS)
            self._process = None

    def count(self) -> int:
        """Return the number of its entries."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(b"stats\r\nquit\r\n")
            output = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        return int(output.partition("STAT curr_items ")[2].split()[0])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _is_serving(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True
