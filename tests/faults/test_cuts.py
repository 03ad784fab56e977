# SPDX-License-Identifier: Apache-2.0

"""The connection is cut at each message of a request, at every cut point. The client does not notice it.

The request is carried out exactly once, and succeeds. After a cut at the commit the service looks the change up in
the change log, because it is not known whether the server received the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from _pytest.mark.structures import ParameterSet

from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer, proxied_url
from tests.faults.proxy import CutPoint, Proxy, cut_first_with, cut_nth
from tests.faults.requests import claim, inventory, new_uuid
from tests.support.api import Api, Response, api

MAX_MESSAGES = 200
"""No request has this many: a loop that gets there would never end."""


@dataclass
class ProxiedService:
    """A service behind a proxy, and the rows of its database."""

    api: Api
    proxy: Proxy
    database_rows: DatabaseRows
    hosts: tuple[str, str]


@pytest.fixture(scope="module")
def shared_service(private_server: PrivateServer) -> Iterator[ProxiedService]:
    with (
        private_server.database() as url,
        private_server.proxy() as proxy,
        api(proxied_url(proxy, url)) as service,
    ):
        hosts = tuple(service.host(new_uuid(), VCPU=100_000) for _ in range(2))
        database_rows = DatabaseRows(url)
        yield ProxiedService(service, proxy, database_rows, (hosts[0], hosts[1]))
        database_rows.close()


@pytest.fixture
def proxied(shared_service: ProxiedService) -> Iterator[ProxiedService]:
    """All tests share the service. The database must be consistent after each test."""
    yield shared_service
    shared_service.proxy.disarm()
    shared_service.database_rows.assert_consistent()


def claims_one(proxied: ProxiedService) -> Response:
    consumer, before = new_uuid(), proxied.database_rows.allocations()
    response = proxied.api.put(f"/allocations/{consumer}", claim(proxied.hosts[0]))
    assert proxied.database_rows.allocations() - before == {(consumer, proxied.hosts[0], "VCPU", 1): 1}
    assert proxied.database_rows.consumers()[consumer] == (1, "p", "u")
    return response


def claims_for_a_new_owner(proxied: ProxiedService) -> Response:
    """Projects and users have rows of their own, which the service caches once they are committed."""
    consumer, owner = new_uuid(), new_uuid()
    response = proxied.api.put(f"/allocations/{consumer}", claim(proxied.hosts[0], project=owner, user=owner))
    assert proxied.database_rows.consumers()[consumer] == (1, owner, owner)
    return response


def claims_for_three_consumers(proxied: ProxiedService) -> Response:
    consumers, before = [new_uuid() for _ in range(3)], proxied.database_rows.allocations()
    response = proxied.api.post("/allocations", {uuid: claim(*proxied.hosts) for uuid in consumers})
    expected = {(uuid, host, "VCPU", 1): 1 for uuid in consumers for host in proxied.hosts}
    assert proxied.database_rows.allocations() - before == expected
    return response


def moves_a_claim(proxied: ProxiedService) -> Response:
    """The consumer exists: its rows are deleted and inserted again."""
    consumer, (left, right) = new_uuid(), proxied.hosts
    without_cuts(proxied, lambda: proxied.api.put(f"/allocations/{consumer}", claim(left)))
    response = proxied.api.put(f"/allocations/{consumer}", claim(right) | {"consumer_generation": 1})
    held = {row: times for row, times in proxied.database_rows.allocations().items() if row[0] == consumer}
    assert held == {(consumer, right, "VCPU", 1): 1}
    assert proxied.database_rows.consumers()[consumer][0] == 2
    return response


def changes_an_inventory(proxied: ProxiedService) -> Response:
    host = proxied.hosts[0]
    generation = proxied.database_rows.generations()[host]
    (total,) = (row[2] for row in proxied.database_rows.inventories() if row[0] == host)
    response = proxied.api.put(f"/resource_providers/{host}/inventories", inventory(generation, total + 1))
    assert proxied.database_rows.generations()[host] == generation + 1
    assert (host, "VCPU", total + 1) in proxied.database_rows.inventories()
    return response


def makes_a_provider(proxied: ProxiedService) -> Response:
    name = new_uuid()
    response = proxied.api.post(
        "/resource_providers", {"name": name, "parent_provider_uuid": proxied.hosts[0]}
    )
    assert proxied.database_rows.names()[name] == 1
    return response


def reads_a_provider(proxied: ProxiedService) -> Response:
    return proxied.api.get(f"/resource_providers/{proxied.hosts[0]}")


def reads_what_a_consumer_holds(proxied: ProxiedService) -> Response:
    return proxied.api.get(f"/allocations/{new_uuid()}")


Request = Callable[[ProxiedService], Response]
REQUESTS: tuple[Request, ...] = (
    claims_one,
    claims_for_a_new_owner,
    claims_for_three_consumers,
    moves_a_claim,
    changes_an_inventory,
    makes_a_provider,
    reads_a_provider,
    reads_what_a_consumer_holds,
)
WRITES = REQUESTS[:-2]


def without_cuts(proxied: ProxiedService, request: Callable[[], Response]) -> None:
    """Send a request that prepares the test, with the proxy disarmed."""
    rule = proxied.proxy.cut_rule
    proxied.proxy.disarm()
    assert request().status < 300
    if rule is not None:
        proxied.proxy.arm(rule)


def cases() -> Iterator[ParameterSet]:
    for request in REQUESTS:
        for cut_point in CutPoint:
            quick = request in (claims_one, reads_a_provider) and cut_point is CutPoint.AFTER_RESULT
            name = f"{request.__name__}-{cut_point.name.lower()}"
            yield pytest.param(request, cut_point, id=name, marks=() if quick else pytest.mark.long)


@pytest.mark.parametrize(("request_", "cut_point"), list(cases()))
def test_a_request_succeeds_once_if_its_connection_is_cut_at_any_message(
    proxied: ProxiedService, request_: Request, cut_point: CutPoint
) -> None:
    for number in range(1, MAX_MESSAGES):
        head = proxied.database_rows.head()
        proxied.proxy.arm(cut_nth(number, cut_point))
        response = request_(proxied)
        where = f"cut {cut_point.name} at message {number}: {proxied.proxy.cuts}"
        assert response.status < 300, f"{where}: {response.body!r}"
        assert len(proxied.database_rows.operations(head)) == (1 + (request_ is moves_a_claim)) * (
            request_ in WRITES
        ), where
        if not proxied.proxy.cuts:
            assert number > 1, "nothing went through the proxy"
            return
    pytest.fail(f"more than {MAX_MESSAGES} messages")


@pytest.mark.parametrize("cut_point", CutPoint, ids=lambda cut_point: cut_point.name.lower())
@pytest.mark.parametrize("request_", WRITES, ids=lambda request: request.__name__)
def test_a_commit_whose_result_is_lost_is_found_in_the_change_log_and_not_repeated(
    proxied: ProxiedService, request_: Request, cut_point: CutPoint
) -> None:
    request_(proxied)
    proxied.proxy.arm(cut_first_with(b"COMMIT", cut_point))
    head = proxied.database_rows.head()
    assert request_(proxied).status < 300
    assert len(proxied.proxy.cuts) == 1
    assert len(proxied.database_rows.operations(head)) == 1 + (request_ is moves_a_claim)
