# SPDX-License-Identifier: Apache-2.0

"""A Galera cluster of three private MariaDB servers, on addresses of loopback that differ as hosts do.

A node that was killed comes back as an operator's service manager brings it back: its last position is
recovered first, so that it asks the others for what it missed and not for everything. When all are down,
the one that saw most begins the cluster anew.
"""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import Any, Self

from tests.support.servers import programs
from tests.support.servers.mariadb import MariaDB
from tests.support.servers.places import free_port
from tests.support.servers.server import POLL_SECONDS, ServerFailed

ADDRESSES = ("127.0.0.11", "127.0.0.12", "127.0.0.13")
PROVIDERS = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so")
NEEDED = ("rsync", "wsrep_sst_rsync", "ss")
SYNC_SECONDS = 120


class GaleraNode(MariaDB):
    """One server of a cluster. Its data come from the others when it has none."""

    def __init__(self, cluster: GaleraCluster, address: str, durable: bool) -> None:
        super().__init__(durable=durable)
        self._cluster = cluster
        self.host = address
        self.port = free_port(address)
        self.group_port, self.increments_port, self.state_port = (free_port(address) for _ in range(3))
        self._begins_cluster = False

    @property
    def member(self) -> str:
        """How the other nodes reach this one."""
        return f"{self.host}:{self.group_port}"

    def begin_cluster(self) -> None:
        """Start as the first node: alone, with its own data as the truth."""
        state = self.data / "grastate.dat"
        if state.exists():
            state.write_text(re.sub(r"safe_to_bootstrap: \d", "safe_to_bootstrap: 1", state.read_text()))
        self._begins_cluster = True
        try:
            self.launch()
        finally:
            self._begins_cluster = False

    def status(self, variable: str) -> str | None:
        """A status variable of the cluster as this node sees it, or None when it does not answer."""
        try:
            rows = self.run_sql(f"SHOW STATUS LIKE 'wsrep_{variable}'")
        except Exception:  # it is down, or coming up
            return None
        return str(rows[0][1]) if rows else None

    def is_synced(self, members: int) -> bool:
        """Whether it takes part, with this many, and has seen all that there is."""
        return (
            self.status("local_state_comment") == "Synced"
            and self.status("cluster_status") == "Primary"
            and self.status("cluster_size") == str(members)
        )

    def last_seen(self) -> int:
        """The number of the last transaction in its data; it must not be running."""
        return int(self._position().rpartition(":")[2]) if self.data.exists() else -1

    def _position(self) -> str:
        done = subprocess.run(
            [*super()._command(), "--wsrep-recover", *self._replication()],
            capture_output=True,
            text=True,
            cwd=self.directory,
            timeout=60,
            **programs.run_as(self._account),
        )
        found = re.search(r"Recovered position:? *(\S+:-?\d+)", done.stderr + done.stdout)
        if found is None:
            raise ServerFailed(f"no position to recover on {self.host}:\n{done.stderr[-4000:]}")
        return found[1]

    def _initialise(self) -> None:
        if self._begins_cluster:
            super()._initialise()

    def _replication(self) -> list[str]:
        options = {
            "gmcast.listen_addr": f"tcp://{self.member}",
            "ist.recv_addr": f"{self.host}:{self.increments_port}",
            "gcache.size": "64M",
        }
        settings = {
            "on": "ON",
            "provider": str(_provider()),
            "provider-options": ";".join(f"{name}={value}" for name, value in options.items()),
            "cluster-name": "plimsoll",
            "cluster-address": "gcomm://" + ",".join(node.member for node in self._cluster.nodes),
            "node-name": self.host,
            "node-address": self.host,
            "sst-method": "rsync",
            "sst-receive-address": f"{self.host}:{self.state_port}",
        }
        return [
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            *(f"--wsrep-{name}={value}" for name, value in settings.items()),
        ]

    def _command(self) -> list[str]:
        command = [*super()._command(), *self._replication()]
        if self._begins_cluster:
            command.append("--wsrep-new-cluster")
        if (self.data / "grastate.dat").exists():
            command.append(f"--wsrep-start-position={self._position()}")
        return command


class GaleraCluster:
    """Three nodes; `nodes[0]` to `nodes[2]` are servers that can be killed and started one by one."""

    engine = "galera"

    def __init__(self, *, durable: bool = True) -> None:
        self.nodes: list[GaleraNode] = []
        self.nodes.extend(GaleraNode(self, address, durable) for address in ADDRESSES)

    @staticmethod
    def missing() -> str | None:
        """Why a cluster cannot be started here, if it cannot."""
        try:
            for program in NEEDED:
                programs.find(program)
            _provider()
        except programs.Missing as missing:
            return str(missing)
        return MariaDB.missing()

    def start(self) -> Self:
        """Start every node that is down: the first of them alone when no other runs, then the rest."""
        down = [node for node in self.nodes if not node.is_running]
        if len(down) == len(self.nodes):
            first = max(down, key=lambda node: node.last_seen())
            down.remove(first)
            first.begin_cluster()
            self._wait_for(first, members=1)
        # One by one: a node that gives its state away cannot give it to two.
        for node in down:
            node.launch()
            self._wait_for(node)
        self.wait_until_synced()
        return self

    def wait_until_synced(self, seconds: float = SYNC_SECONDS) -> None:
        """Wait until all running nodes are one cluster, and each has all that there is."""
        deadline = time.monotonic() + seconds
        for node in self._running():
            self._wait_for(node, seconds=deadline - time.monotonic())

    def stop(self) -> None:
        for node in reversed(self._running()):
            node.stop()

    def kill(self) -> None:
        """All of them, as when the power goes."""
        for node in self._running():
            node.kill()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def pause(self) -> None:
        for node in self._running():
            node.pause()

    def resume(self) -> None:
        for node in self._running():
            node.resume()

    def url(self, database: str, node: int = 0) -> str:
        return self.nodes[node].url(database)

    def create_database(self, name: str, like: str | None = None) -> None:
        self._running()[0].create_database(name, like)

    def drop_database(self, name: str) -> None:
        self._running()[0].drop_database(name)

    def run_sql(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        return self._running()[0].run_sql(*statements, database=database)

    def log(self) -> str:
        return "\n".join(f"== {node.host}\n{node.log()}" for node in self.nodes)

    def remove(self) -> None:
        for node in self.nodes:
            node.remove()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _running(self) -> list[GaleraNode]:
        return [node for node in self.nodes if node.is_running]

    def _wait_for(self, node: GaleraNode, members: int | None = None, seconds: float = SYNC_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not node.is_synced(members or len(self._running())):
            if not node.is_running:
                raise ServerFailed(f"the node {node.host} ended:\n{node.log()[-6000:]}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"the node {node.host} is not synced:\n{node.log()[-6000:]}")
            time.sleep(POLL_SECONDS)


def _provider() -> Path:
    for place in PROVIDERS:
        if Path(place).exists():
            return Path(place)
    raise programs.Missing("galera-4 is not installed")
