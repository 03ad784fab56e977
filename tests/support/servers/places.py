# SPDX-License-Identifier: Apache-2.0

"""Where a private server can be: a directory and a port that are nobody else's."""

from __future__ import annotations

import os
import random
import shutil
import socket
import tempfile
from pathlib import Path

from tests.support.servers.programs import Missing

MEMORY = Path("/dev/shm")
ROOM = 1 << 30


def make_directory(*, in_memory: bool) -> Path:
    """A new one, with a short name, because the path of a socket has a limit."""
    place = MEMORY if in_memory and _has_room(MEMORY) else None
    return Path(tempfile.mkdtemp(prefix="plimsoll-", dir=place))


def _has_room(directory: Path) -> bool:
    """Some containers have such a directory that holds next to nothing."""
    return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free > ROOM


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on, and that no client is given by chance while the server is down."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(1000):
        port = random.SystemRandom().randrange(max(1024, low - 20000), low)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
        return port
    raise Missing(f"a free port of {host} is not to be found")
