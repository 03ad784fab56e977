# SPDX-License-Identifier: Apache-2.0

"""A Galera cluster of three nodes: writes through all nodes have one order, and reads through any node see them all.

A lock at one node does not exclude writers at another: two workers may both lock the head, and one commit fails.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from plimsoll.ledger.ledger import Ledger
from plimsoll.service import standards
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.head import Head
from plimsoll.storage.maintenance import foreign_writes
from plimsoll.storage.schema import migrate
from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import prepare_database, unencrypted_url
from tests.faults.requests import new_uuid
from tests.faults.services import ClaimLoad, DatabaseService, HttpClient, assert_unavailable
from tests.support.servers import GaleraCluster
from tests.support.servers.galera import GaleraNode

pytestmark = pytest.mark.long

NAME = "placement"
UNITS = 100
CLIENTS = 6


@dataclass
class Cloud:
    """A cluster with a service at each node."""

    cluster: GaleraCluster
    services: list[DatabaseService]
    host: str = ""

    def database_rows(self, node: int = 0) -> DatabaseRows:
        return DatabaseRows(
            unencrypted_url(self.cluster.url(NAME, node)) + "&init_command=SET SESSION wsrep_sync_wait = 1"
        )

    def http_client(self, node: int) -> HttpClient:
        return self.services[node].http_client()

    def with_host(self, vcpu: int) -> Cloud:
        with self.http_client(0) as client:
            return replace(self, host=client.host(vcpu))

    def assert_consistent_everywhere(self) -> None:
        """All nodes have the same consistent rows, and each worker has them in memory."""
        rows = [self.database_rows(node).allocations() for node in range(3)]
        assert rows[0] == rows[1] == rows[2]
        used = sum(row[3] for row in rows[0] if row[1] == self.host)
        for node in range(3):
            self.database_rows(node).assert_consistent()
            with self.http_client(node) as client:
                assert client.used(self.host) == used
            self.services[node].verify()


@pytest.fixture(scope="module")
def services(cluster: GaleraCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    cluster.create_database(NAME)
    prepare_database(unencrypted_url(cluster.url(NAME)))
    directory = tmp_path_factory.mktemp("services")
    started = [
        DatabaseService(directory / str(node), unencrypted_url(cluster.url(NAME, node))) for node in range(3)
    ]
    with started[0], started[1], started[2]:
        yield Cloud(cluster, started)


@pytest.fixture
def cloud(services: Cloud) -> Cloud:
    services.cluster.wait_until_synced()
    return services


def claim_until_refused_three_times(port: int, host: str, statuses: list[int]) -> None:
    refused = 0
    with HttpClient(port) as client:
        while refused < 3:
            status = client.claim(host).status
            statuses.append(status)
            refused += status != 204


@pytest.mark.parametrize("nodes", [(0,), (0, 1, 2)], ids=["through one node", "through all three"])
def test_exactly_the_available_units_are_claimed(cloud: Cloud, nodes: tuple[int, ...]) -> None:
    cloud = cloud.with_host(UNITS)
    statuses: list[int] = []
    threads = [
        threading.Thread(
            target=claim_until_refused_three_times,
            args=(cloud.services[nodes[number % len(nodes)]].port, cloud.host, statuses),
        )
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(statuses) == {204: UNITS, 409: 3 * CLIENTS}
    cloud.assert_consistent_everywhere()


def test_conflicts_between_nodes_are_retried(cloud: Cloud) -> None:
    """The tests here prove something only if nodes had conflicts. Clients must not notice them."""
    cloud = cloud.with_host(1_000_000)
    with ClaimLoad([service.http_client for service in cloud.services], [cloud.host]) as load:
        load.wait_for_claims(300)
    assert load.statuses().keys() == {204}
    load.compare(cloud.database_rows())
    cloud.assert_consistent_everywhere()
    lost = sum(int(node.status("local_bf_aborts") or 0) for node in cloud.cluster.nodes)
    failed = sum(int(node.status("local_cert_failures") or 0) for node in cloud.cluster.nodes)
    assert lost + failed > 0


def test_no_node_is_starved_of_writes(cloud: Cloud) -> None:
    """The node that has won a conflict would win the next one as well, if it did not pause."""
    cloud = cloud.with_host(1_000_000)
    with ClaimLoad([service.http_client for service in cloud.services], [cloud.host]) as load:
        load.run_for(20)
    assert load.statuses().keys() == {204}
    assert min(load.shares[node] for node in range(3)) > len(load.responses) / 30, load.shares


def test_a_write_through_one_node_is_visible_at_once_through_another(cloud: Cloud) -> None:
    cloud = cloud.with_host(1_000_000)
    clients = [cloud.http_client(node) for node in range(3)]
    for number in range(60):
        consumer = new_uuid()
        writer, reader = clients[number % 3], clients[(number + 1 + number // 3 % 2) % 3]
        assert writer.claim(cloud.host, consumer=consumer).status == 204
        assert reader.used(cloud.host) == number + 1
        assert reader.get(f"/allocations/{consumer}").json["allocations"].keys() == {cloud.host}
    for client in clients:
        client.close()


@pytest.mark.parametrize("victim", [0, 2])
def test_a_node_is_killed_under_load_and_restarted(cloud: Cloud, victim: int) -> None:
    cloud = cloud.with_host(1_000_000)
    with ClaimLoad([service.http_client for service in cloud.services], [cloud.host]) as load:
        load.wait_for_claims(60)
        cloud.cluster.nodes[victim].kill()
        load.wait_for_claims(60, seconds=120)
        cloud.cluster.start()
        load.wait_for_claims(60, seconds=120)
    load.compare(cloud.database_rows())
    with cloud.http_client(victim) as client:
        assert client.claim(cloud.host).status == 204
    cloud.assert_consistent_everywhere()


def test_a_node_without_connection_to_the_others_refuses_reads_and_writes(cloud: Cloud) -> None:
    """Its data may be stale, so reads must fail as well."""
    cloud = cloud.with_host(1_000_000)
    alone, others = cloud.cluster.nodes[0], cloud.cluster.nodes[1:]
    for node in others:
        node.pause()
    try:
        wait_for_status(alone, "non-Primary")
        with cloud.http_client(0) as client:
            assert_unavailable(client.get(f"/resource_providers/{cloud.host}"))
            assert_unavailable(client.claim(cloud.host))
    finally:
        for node in others:
            node.resume()
    cloud.cluster.wait_until_synced()
    with cloud.http_client(0) as client:
        assert client.claim(cloud.host).status == 204
    cloud.assert_consistent_everywhere()


def wait_for_status(node: GaleraNode, status: str) -> None:
    deadline = time.monotonic() + 60
    while node.status("cluster_status") != status:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_services_that_start_at_all_nodes_share_one_database(cluster: GaleraCluster) -> None:
    """The first start at each node adds the standard names: the transactions conflict, and the losers retry."""
    for attempt in range(5):
        name = f"started_{attempt}"
        cluster.create_database(name)
        urls = [unencrypted_url(cluster.url(name, node)) for node in range(3)]
        first = Database(urls[0])
        migrate.sync(first)
        first.dispose()
        with ThreadPoolExecutor() as pool:
            heads = list(pool.map(start_and_read_head, urls))
        assert len({head.seq for head in heads}) == 1, heads


def start_and_read_head(url: str) -> Head:
    """Prepare the database and add the standard names, as a worker does when it starts."""
    database = Database(url)
    try:
        foreign_writes.take_over(database)
        ledger = Ledger(database)
        standards.synchronise(Placement(ledger))
        return ledger.snapshot().head
    finally:
        database.dispose()
