# SPDX-License-Identifier: Apache-2.0

"""Three nodes, one truth: whichever node a worker talks to, writes have one order and reads see all of them.

A lock on one node is none on another: two workers may both take the head, and only the commit tells who was first.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from tests.faults.books import Books
from tests.faults.ground import make_ready, plain
from tests.faults.requests import new_uuid
from tests.faults.services import Line, ServiceOn, Storm, assert_unavailable
from tests.support.servers import GaleraCluster
from tests.support.servers.galera import GaleraNode

pytestmark = pytest.mark.long

NAME = "placement"
UNITS = 100
CLIENTS = 6


@dataclass
class Cloud:
    """A service at each node, and the database as the first node shows it."""

    cluster: GaleraCluster
    services: list[ServiceOn]
    host: str = ""

    def books(self, node: int = 0) -> Books:
        return Books(plain(self.cluster.url(NAME, node)) + "&init_command=SET SESSION wsrep_sync_wait = 1")

    def line(self, node: int) -> Line:
        return self.services[node].line()

    def with_host(self, vcpu: int) -> Cloud:
        with self.line(0) as line:
            return replace(self, host=line.host(vcpu))

    def assert_agreed(self) -> None:
        """Each node has the same rows, without a contradiction, and each worker has in memory what they say."""
        rows = [self.books(node).allocations() for node in range(3)]
        assert rows[0] == rows[1] == rows[2]
        used = sum(row[3] for row in rows[0] if row[1] == self.host)
        for node in range(3):
            self.books(node).assert_sound()
            with self.line(node) as line:
                assert line.used(self.host) == used
            self.services[node].verify()


@pytest.fixture(scope="module")
def services(cluster: GaleraCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    cluster.create_database(NAME)
    make_ready(plain(cluster.url(NAME)))
    directory = tmp_path_factory.mktemp("services")
    started = [ServiceOn(directory / str(node), plain(cluster.url(NAME, node))) for node in range(3)]
    with started[0], started[1], started[2]:
        yield Cloud(cluster, started)


@pytest.fixture
def cloud(services: Cloud) -> Cloud:
    services.cluster.wait_until_synced()
    return services


def claim_until_refused_thrice(port: int, host: str, statuses: list[int]) -> None:
    refused = 0
    with Line(port) as line:
        while refused < 3:
            status = line.claim(host).status
            statuses.append(status)
            refused += status != 204


@pytest.mark.parametrize("nodes", [(0,), (0, 1, 2)], ids=["through one node", "through all three"])
def test_the_last_units_are_claimed_and_not_one_more(cloud: Cloud, nodes: tuple[int, ...]) -> None:
    cloud = cloud.with_host(UNITS)
    statuses: list[int] = []
    threads = [
        threading.Thread(
            target=claim_until_refused_thrice,
            args=(cloud.services[nodes[number % len(nodes)]].port, cloud.host, statuses),
        )
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(statuses) == {204: UNITS, 409: 3 * CLIENTS}
    cloud.assert_agreed()


def test_races_between_nodes_were_lost_and_run_again(cloud: Cloud) -> None:
    """Otherwise the tests here prove nothing: nodes must have got into each other's way, and nobody was told."""
    cloud = cloud.with_host(1_000_000)
    with Storm([service.line for service in cloud.services], [cloud.host]) as storm:
        storm.until_claimed(300)
    assert storm.statuses().keys() == {204}
    storm.compare(cloud.books())
    cloud.assert_agreed()
    lost = sum(int(node.status("local_bf_aborts") or 0) for node in cloud.cluster.nodes)
    failed = sum(int(node.status("local_cert_failures") or 0) for node in cloud.cluster.nodes)
    assert lost + failed > 0


def test_no_node_keeps_the_others_from_writing(cloud: Cloud) -> None:
    """Who has just won a race is ahead in the next one as well, unless it lets the others go first."""
    cloud = cloud.with_host(1_000_000)
    with Storm([service.line for service in cloud.services], [cloud.host]) as storm:
        storm.blow(20)
    assert storm.statuses().keys() == {204}
    assert min(storm.shares[node] for node in range(3)) > len(storm.answers) / 30, storm.shares


def test_what_was_written_through_one_node_is_read_at_once_through_another(cloud: Cloud) -> None:
    cloud = cloud.with_host(1_000_000)
    lines = [cloud.line(node) for node in range(3)]
    for turn in range(60):
        consumer = new_uuid()
        writer, reader = lines[turn % 3], lines[(turn + 1 + turn // 3 % 2) % 3]
        assert writer.claim(cloud.host, consumer=consumer).status == 204
        assert reader.used(cloud.host) == turn + 1
        assert reader.get(f"/allocations/{consumer}").json["allocations"].keys() == {cloud.host}
    for line in lines:
        line.close()


@pytest.mark.parametrize("victim", [0, 2])
def test_a_node_is_killed_under_load_and_comes_back(cloud: Cloud, victim: int) -> None:
    cloud = cloud.with_host(1_000_000)
    with Storm([service.line for service in cloud.services], [cloud.host]) as storm:
        storm.until_claimed(60)
        cloud.cluster.nodes[victim].kill()
        storm.until_claimed(60, seconds=120)
        cloud.cluster.start()
        storm.until_claimed(60, seconds=120)
    storm.compare(cloud.books())
    with cloud.line(victim) as line:
        assert line.claim(cloud.host).status == 204
    cloud.assert_agreed()


def test_a_node_that_has_lost_the_others_takes_nothing_and_shows_nothing(cloud: Cloud) -> None:
    """It cannot know what the others do meanwhile, and so it has to keep silent, reads included."""
    cloud = cloud.with_host(1_000_000)
    alone, others = cloud.cluster.nodes[0], cloud.cluster.nodes[1:]
    for node in others:
        node.pause()
    try:
        wait_for_status(alone, "non-Primary")
        with cloud.line(0) as line:
            assert_unavailable(line.get(f"/resource_providers/{cloud.host}"))
            assert_unavailable(line.claim(cloud.host))
    finally:
        for node in others:
            node.resume()
    cloud.cluster.wait_until_synced()
    with cloud.line(0) as line:
        assert line.claim(cloud.host).status == 204
    cloud.assert_agreed()


def wait_for_status(node: GaleraNode, status: str) -> None:
    deadline = time.monotonic() + 60
    while node.status("cluster_status") != status:
        assert time.monotonic() < deadline
        time.sleep(0.1)
