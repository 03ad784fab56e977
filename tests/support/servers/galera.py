# SPDX-License-Identifier: Apache-2.0

"""A Galera cluster of three private MariaDB servers, each on its own loopback address.

A killed node is restarted as a service manager does it: its last position is recovered first, so that it requests only
the missing transactions (IST) and not a full copy (SST). When all nodes are down, the one with the newest data
bootstraps the cluster.
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
    """One server of a cluster. Without data it copies them from another node."""

    def __init__(self, cluster: GaleraCluster, address: str, durable: bool) -> None:
        super().__init__(durable=durable)
        self._cluster = cluster
        self.host = address
        self.port = free_port(address)
        self.group_port, self.increments_port, self.state_port = (free_port(address) for _ in range(3))
        self._bootstraps = False

    @property
    def group_address(self) -> str:
        """The address for group communication."""
        return f"{self.host}:{self.group_port}"

    def bootstrap(self) -> None:
        """Bootstrap the cluster: start alone, with this node's data."""
        state = self.data / "grastate.dat"
        if state.exists():
            state.write_text(re.sub(r"safe_to_bootstrap: \d", "safe_to_bootstrap: 1", state.read_text()))
        self._bootstraps = True
        try:
            self.launch()
        finally:
            self._bootstraps = False

    def status(self, variable: str) -> str | None:
        """Return a wsrep status variable of this node, or None if it does not accept connections."""
        try:
            rows = self.run_sql(f"SHOW STATUS LIKE 'wsrep_{variable}'")
        except Exception:  # it is down or starting
            return None
        return str(rows[0][1]) if rows else None

    def is_synced(self, members: int) -> bool:
        """True if the node is in a primary component of this size and has applied all transactions."""
        return (
            self.status("local_state_comment") == "Synced"
            and self.status("cluster_status") == "Primary"
            and self.status("cluster_size") == str(members)
        )

    def last_transaction(self) -> int:
        """Return the number of the last transaction in the data of a stopped node."""
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
        if self._bootstraps:
            super()._initialise()

    def _replication(self) -> list[str]:
        options = {
            "gmcast.listen_addr": f"tcp://{self.group_address}",
            "ist.recv_addr": f"{self.host}:{self.increments_port}",
            "gcache.size": "64M",
        }
        settings = {
            "on": "ON",
            "provider": str(_provider()),
            "provider-options": ";".join(f"{name}={value}" for name, value in options.items()),
            "cluster-name": "plimsoll",
            "cluster-address": "gcomm://" + ",".join(node.group_address for node in self._cluster.nodes),
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
        if self._bootstraps:
            command.append("--wsrep-new-cluster")
        if (self.data / "grastate.dat").exists():
            command.append(f"--wsrep-start-position={self._position()}")
        return command


class GaleraCluster:
    """Three nodes; each of `nodes` can be killed and started separately."""

    engine = "galera"

    def __init__(self, *, durable: bool = True) -> None:
        self.nodes: list[GaleraNode] = []
        self.nodes.extend(GaleraNode(self, address, durable) for address in ADDRESSES)

    @staticmethod
    def missing() -> str | None:
        """Return why a cluster cannot be started here, or None."""
        try:
            for program in NEEDED:
                programs.find(program)
            _provider()
        except programs.Missing as missing:
            return str(missing)
        return MariaDB.missing()

    def start(self) -> Self:
        """Start every node that is down. If all are, bootstrap the one with the newest data first."""
        down = [node for node in self.nodes if not node.is_running]
        if len(down) == len(self.nodes):
            newest = max(down, key=lambda node: node.last_transaction())
            down.remove(newest)
            newest.bootstrap()
            self._wait_for(newest, members=1)
        # One at a time: a donor can send its state to one node only.
        for node in down:
            node.launch()
            self._wait_for(node)
        self.wait_until_synced()
        return self

    def wait_until_synced(self, seconds: float = SYNC_SECONDS) -> None:
        """Wait until all running nodes are one cluster and synced."""
        deadline = time.monotonic() + seconds
        for node in self._running():
            self._wait_for(node, seconds=deadline - time.monotonic())

    def stop(self) -> None:
        for node in reversed(self._running()):
            node.stop()

    def kill(self) -> None:
        """Kill all nodes, as a power failure does."""
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
    for path in PROVIDERS:
        if Path(path).exists():
            return Path(path)
    raise programs.Missing("galera-4 is not installed")
