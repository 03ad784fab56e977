# SPDX-License-Identifier: Apache-2.0

"""Fault-injecting proxies between the services and the nodes of a database, or no proxies at all."""

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

from tests.audit.faulty_proxy import COMMANDS
from tests.support.servers.places import free_port

ROOT = Path(__file__).parents[2]
START_SECONDS = 30


class ProxyProcess:
    """A `faulty_proxy` process in front of the server at this URL, until `close`."""

    def __init__(self, url: str) -> None:
        server = make_url(url)
        assert server.host is not None
        port = free_port()
        self.url = server.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.audit.faulty_proxy", str(port), server.host, str(server.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        _wait_for(port)

    def send(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n".encode())
        self._process.stdin.flush()

    def close(self) -> int:
        """End the process and return how many commits it has interrupted."""
        output, _ = self._process.communicate(timeout=30)
        return int(output)


class Proxies:
    """One proxy per URL. Without proxies the URLs are used directly, and no fault is injected."""

    def __init__(self, urls: Sequence[str], proxies: Sequence[ProxyProcess], rng: random.Random) -> None:
        self.urls = [proxy.url for proxy in proxies] or list(urls)
        self.count = len(proxies)
        self.commits_interrupted = 0
        """Set when the proxies are closed."""
        self._proxies = proxies
        self._rng = rng

    def inject_fault(self, number: int) -> None:
        """Break all connections at once, or one of them during a commit, before or after the server gets it."""
        self._proxies[number].send(self._rng.choice(COMMANDS))


@contextmanager
def open_proxies(urls: Sequence[str], seed: int, *, enabled: bool) -> Iterator[Proxies]:
    proxies: list[ProxyProcess] = []
    all_proxies = None
    try:
        if enabled:
            for url in urls:
                proxies.append(ProxyProcess(url))
        all_proxies = Proxies(urls, proxies, random.Random(f"{seed}/proxies"))
        yield all_proxies
    finally:
        interrupted = sum(proxy.close() for proxy in proxies)
        if all_proxies is not None:
            all_proxies.commits_interrupted = interrupted


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the proxy does not accept connections"
            time.sleep(0.02)
