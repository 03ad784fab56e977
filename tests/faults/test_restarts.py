# SPDX-License-Identifier: Apache-2.0

"""The server is killed, stopped, and paused while clients claim. It comes back, and all goes on by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from tests.faults.books import Books
from tests.faults.ground import Ground
from tests.faults.requests import new_uuid
from tests.faults.services import Line, ServiceOn, Storm, assert_unavailable
from tests.support.servers import Server

KILLS = 3


@dataclass
class Stormed:
    """Two services on one server, a host with room for all claims, and the database as it is."""

    server: Server
    services: list[ServiceOn]
    host: str
    books: Books

    def line(self, service: int = 0) -> Line:
        return self.services[service].line()

    def storm(self) -> Storm:
        """Clients at both services, who take turns."""
        return Storm([service.line for service in self.services], [self.host])

    def assert_agreed(self, storm: Storm) -> None:
        storm.compare(self.books)
        claims = sum(self.books.holders([self.host]).values())
        for service in range(len(self.services)):
            with self.line(service) as line:
                assert line.used(self.host) == claims
        self.services[0].verify()


@pytest.fixture(scope="module")
def one_storm(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stormed]:
    directory = tmp_path_factory.mktemp("services")
    with ground.database() as url:
        services = [ServiceOn(directory / str(number), url) for number in range(2)]
        books = Books(url)
        with services[0], services[1]:
            yield Stormed(ground.server, services, "", books)
        books.close()


@pytest.fixture
def stormed(one_storm: Stormed) -> Stormed:
    """The services stay the same; each test has a host of its own."""
    with one_storm.line() as line:
        return replace(one_storm, host=line.host(1_000_000))


def test_claims_go_on_after_the_server_was_killed(stormed: Stormed) -> None:
    with stormed.storm() as storm:
        storm.until_claimed(20)
        for _ in range(KILLS):
            stormed.server.kill()
            stormed.server.start()
            storm.until_claimed(20)
    stormed.assert_agreed(storm)


@pytest.mark.long
def test_claims_go_on_after_the_server_was_away_for_longer_than_a_write_is_tried(stormed: Stormed) -> None:
    with stormed.storm() as storm:
        storm.until_claimed(20)
        stormed.server.kill()
        storm.blow(14)
        stormed.server.start()
        storm.until_claimed(20)
    stormed.assert_agreed(storm)


@pytest.mark.long
def test_a_claim_without_a_server_is_given_up_and_not_written_later(stormed: Stormed) -> None:
    consumer = new_uuid()
    with stormed.line() as line:
        stormed.server.kill()
        try:
            assert_unavailable(line.claim(stormed.host, consumer=consumer))
        finally:
            stormed.server.start()
        assert line.claim(stormed.host).status == 204
    assert stormed.books.holders([stormed.host])[consumer] == 0


@pytest.mark.long
def test_claims_go_on_after_the_server_was_stopped_by_its_operator(stormed: Stormed) -> None:
    with stormed.storm() as storm:
        for _ in range(KILLS):
            storm.until_claimed(20)
            stormed.server.restart()
        storm.until_claimed(20)
    stormed.assert_agreed(storm)


def test_a_read_is_answered_well_after_the_server_was_restarted(stormed: Stormed) -> None:
    """Every connection is dead, the probe's and the pools', and no request has to pay for it."""
    with stormed.line() as line:
        assert line.claim(stormed.host).status == 204
        stormed.server.restart()
        assert line.get(f"/resource_providers/{stormed.host}").status == 200
        assert line.claim(stormed.host).status == 204


def test_a_read_without_a_server_is_told_so(stormed: Stormed) -> None:
    with stormed.line() as line:
        stormed.server.kill()
        try:
            assert_unavailable(line.get(f"/resource_providers/{stormed.host}"))
            assert_unavailable(line.get("/allocation_candidates?resources=VCPU:1"))
        finally:
            stormed.server.start()
        assert line.get(f"/resource_providers/{stormed.host}").status == 200


@pytest.mark.long
def test_what_was_asked_of_a_paused_server_is_done_when_it_goes_on(stormed: Stormed) -> None:
    with stormed.storm() as storm:
        for seconds in (1, 12):
            storm.until_claimed(20)
            stormed.server.pause()
            storm.blow(seconds)
            stormed.server.resume()
        storm.until_claimed(20)
    stormed.assert_agreed(storm)


@pytest.mark.long
def test_many_readers_of_a_paused_server_are_all_answered_when_it_goes_on(stormed: Stormed) -> None:
    statuses: list[int] = []

    def read() -> None:
        with stormed.line() as line:
            statuses.append(line.get(f"/resource_providers/{stormed.host}").status)

    stormed.server.pause()
    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(1)
    stormed.server.resume()
    for reader in readers:
        reader.join(60)
    assert statuses == [200] * 8
