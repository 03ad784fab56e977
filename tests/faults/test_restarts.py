# SPDX-License-Identifier: Apache-2.0

"""The database server is killed, stopped and paused while clients claim. The service recovers by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer
from tests.faults.requests import new_uuid
from tests.faults.services import ClaimLoad, DatabaseService, HttpClient, assert_unavailable
from tests.support.servers import Server

KILLS = 3


@dataclass
class Deployment:
    """Two services on one server, a host with room for all claims, and the rows of the database."""

    server: Server
    services: list[DatabaseService]
    host: str
    database_rows: DatabaseRows

    def http_client(self, service: int = 0) -> HttpClient:
        return self.services[service].http_client()

    def claim_load(self) -> ClaimLoad:
        """Clients that claim through both services."""
        return ClaimLoad([service.http_client for service in self.services], [self.host])

    def assert_consistent_everywhere(self, load: ClaimLoad) -> None:
        load.compare(self.database_rows)
        claims = sum(self.database_rows.allocation_counts([self.host]).values())
        for service in range(len(self.services)):
            with self.http_client(service) as client:
                assert client.used(self.host) == claims
        self.services[0].verify()


@pytest.fixture(scope="module")
def shared_deployment(
    private_server: PrivateServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp("services")
    with private_server.database() as url:
        services = [DatabaseService(directory / str(number), url) for number in range(2)]
        database_rows = DatabaseRows(url)
        with services[0], services[1]:
            yield Deployment(private_server.server, services, "", database_rows)
        database_rows.close()


@pytest.fixture
def deployment(shared_deployment: Deployment) -> Deployment:
    """All tests share the services; each test has its own host."""
    with shared_deployment.http_client() as client:
        return replace(shared_deployment, host=client.host(1_000_000))


def test_claims_succeed_again_after_the_server_was_killed(deployment: Deployment) -> None:
    with deployment.claim_load() as load:
        load.wait_for_claims(20)
        for _ in range(KILLS):
            deployment.server.kill()
            deployment.server.start()
            load.wait_for_claims(20)
    deployment.assert_consistent_everywhere(load)


@pytest.mark.long
def test_claims_succeed_again_after_an_outage_that_is_longer_than_the_retries(deployment: Deployment) -> None:
    with deployment.claim_load() as load:
        load.wait_for_claims(20)
        deployment.server.kill()
        load.run_for(14)
        deployment.server.start()
        load.wait_for_claims(20)
    deployment.assert_consistent_everywhere(load)


@pytest.mark.long
def test_a_claim_without_a_server_fails_and_is_not_written_later(deployment: Deployment) -> None:
    consumer = new_uuid()
    with deployment.http_client() as client:
        deployment.server.kill()
        try:
            assert_unavailable(client.claim(deployment.host, consumer=consumer))
        finally:
            deployment.server.start()
        assert client.claim(deployment.host).status == 204
    assert deployment.database_rows.allocation_counts([deployment.host])[consumer] == 0


@pytest.mark.long
def test_claims_succeed_again_after_a_clean_restart_of_the_server(deployment: Deployment) -> None:
    with deployment.claim_load() as load:
        for _ in range(KILLS):
            load.wait_for_claims(20)
            deployment.server.restart()
        load.wait_for_claims(20)
    deployment.assert_consistent_everywhere(load)


def test_reads_and_writes_succeed_after_the_server_was_restarted(deployment: Deployment) -> None:
    """All connections are closed, of the probe and of the pools, and yet no request fails."""
    with deployment.http_client() as client:
        assert client.claim(deployment.host).status == 204
        deployment.server.restart()
        assert client.get(f"/resource_providers/{deployment.host}").status == 200
        assert client.claim(deployment.host).status == 204


def test_a_read_without_a_server_fails_with_503(deployment: Deployment) -> None:
    with deployment.http_client() as client:
        deployment.server.kill()
        try:
            assert_unavailable(client.get(f"/resource_providers/{deployment.host}"))
            assert_unavailable(client.get("/allocation_candidates?resources=VCPU:1"))
        finally:
            deployment.server.start()
        assert client.get(f"/resource_providers/{deployment.host}").status == 200


@pytest.mark.long
def test_claims_during_a_pause_of_the_server_are_written_when_it_resumes(deployment: Deployment) -> None:
    with deployment.claim_load() as load:
        for seconds in (1, 12):
            load.wait_for_claims(20)
            deployment.server.pause()
            load.run_for(seconds)
            deployment.server.resume()
        load.wait_for_claims(20)
    deployment.assert_consistent_everywhere(load)


@pytest.mark.long
def test_reads_during_a_pause_of_the_server_succeed_when_it_resumes(deployment: Deployment) -> None:
    statuses: list[int] = []

    def read() -> None:
        with deployment.http_client() as client:
            statuses.append(client.get(f"/resource_providers/{deployment.host}").status)

    deployment.server.pause()
    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(1)
    deployment.server.resume()
    for reader in readers:
        reader.join(60)
    assert statuses == [200] * 8
