# SPDX-License-Identifier: Apache-2.0

"""Where the service listens, and with how much."""

from __future__ import annotations

import resource
import socket
from dataclasses import dataclass

MOST_CONNECTIONS = 16_384
"""Of one worker. Every host of a cloud keeps one open, so there must be room for many."""

_FILES_FOR_OURSELVES = 256
_WAITING = 2048
"""Connections that nobody has accepted yet."""


@dataclass(frozen=True, slots=True)
class Listen:
    address: str
    port: int
    workers: int
    threads: int
    """Requests that one worker handles at a time."""

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self.port}"

    @property
    def _host(self) -> str:
        return f"[{self.address}]" if ":" in self.address else self.address

    def open(self) -> socket.socket:
        """The one socket of all workers: it stays open while they are replaced, so that nobody is turned away."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        return socket.create_server((self.address, self.port), family=family, backlog=_WAITING)


def room_for_connections() -> int:
    """As many as the system lets us have files open, after asking it for all it allows."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _FILES_FOR_OURSELVES
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    return max(128, limit - _FILES_FOR_OURSELVES)
