# SPDX-License-Identifier: Apache-2.0

"""Temporary directories and free ports for private servers."""

from __future__ import annotations

import os
import random
import shutil
import socket
import tempfile
from pathlib import Path

from tests.support.servers.programs import Missing

MEMORY = Path("/dev/shm")
NEEDED_BYTES = 1 << 30


def make_directory(*, in_memory: bool) -> Path:
    """Create a directory with a short path, because the path length of a socket is limited."""
    parent = MEMORY if in_memory and _has_room(MEMORY) else None
    return Path(tempfile.mkdtemp(prefix="plimsoll-", dir=parent))


def _has_room(directory: Path) -> bool:
    """True if the directory is writable and has 1 GiB free: in some containers /dev/shm is tiny."""
    return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free > NEEDED_BYTES


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port without a listener, outside the range from which clients get their ports."""
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
    raise Missing(f"no free port found on {host}")
