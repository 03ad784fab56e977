# SPDX-License-Identifier: Apache-2.0

"""The address that the service listens on, and how many connections a worker can have."""

from __future__ import annotations

import resource
import socket
from dataclasses import dataclass

from plimsoll.server.forwarding import MAX_FORWARDED
from plimsoll.server.limits import MAX_CONNECTIONS

_OTHER_FILES = 256 + MAX_FORWARDED
"""File descriptors that a worker needs besides those of its connections, including those to the worker that writes."""
_BACKLOG = 2048
"""Connections that the system holds until a worker accepts them."""


@dataclass(frozen=True, slots=True)
class Listen:
    address: str
    port: int
    workers: int

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}"

    def open(self) -> socket.socket:
        """Open the socket of all workers. It stays open while workers are replaced, so no connection is refused."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        return socket.create_server((self.address, self.port), family=family, backlog=_BACKLOG)


def max_connections() -> int:
    """Raise the process's limit of open files as far as allowed, and return how many connections it permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + _OTHER_FILES
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(128, limit - _OTHER_FILES)
