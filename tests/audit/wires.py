# SPDX-License-Identifier: Apache-2.0

"""The wires between services and a database's nodes: straight ones, or such as can be cut."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

from tests.audit.cutter import ORDERS
from tests.support.servers.places import free_port

ROOT = Path(__file__).parents[2]
START_SECONDS = 30


class Wire:
    """A process that forwards to the server of this URL, until `close`."""

    def __init__(self, url: str) -> None:
        to = make_url(url)
        assert to.host is not None
        port = free_port()
        self.url = to.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.audit.cutter", str(port), to.host, str(to.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        _wait_for(port)

    def order(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n".encode())
        self._process.stdin.flush()

    def close(self) -> int:
        """Ends it; how many commits it has cut."""
        said, _ = self._process.communicate(timeout=30)
        return int(said)


class Wires:
    """One wire for each URL. Without wires the URLs are used as they are, and nothing can be cut."""

    def __init__(self, urls: Sequence[str], wires: Sequence[Wire], dice: random.Random) -> None:
        self.urls = [wire.url for wire in wires] or list(urls)
        self.count = len(wires)
        self.commits_cut = 0
        """Known when they are closed."""
        self._wires = wires
        self._dice = dice

    def cut(self, number: int) -> None:
        """All connections at once, or one of them in the middle of a commit that is then done, or not."""
        self._wires[number].order(self._dice.choice(ORDERS))


@contextmanager
def wired(urls: Sequence[str], seed: int, *, can_be_cut: bool) -> Iterator[Wires]:
    wires: list[Wire] = []
    all_wires = None
    try:
        if can_be_cut:
            for url in urls:
                wires.append(Wire(url))
        all_wires = Wires(urls, wires, random.Random(f"{seed}/wires"))
        yield all_wires
    finally:
        cut = sum(wire.close() for wire in wires)
        if all_wires is not None:
            all_wires.commits_cut = cut


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the wire does not come up"
            time.sleep(0.02)
