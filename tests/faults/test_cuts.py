# SPDX-License-Identifier: Apache-2.0

"""The connection is cut at each message of a request in turn, in every way. The client notices nothing.

Whatever was lost, the request is carried out once: the row is there, it is there once, and the answer says so.
At the commit this takes a look into the change log, since nobody can know whether it was heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from _pytest.mark.structures import ParameterSet

from tests.faults.books import Books
from tests.faults.ground import Ground, through
from tests.faults.proxy import Moment, Proxy, first_with, nth
from tests.faults.requests import claim, inventory, new_uuid
from tests.support.api import Answer, Api, api

MOST_MESSAGES = 200
"""No request has so many: a loop that gets there would never end."""


@dataclass
class World:
    """A service behind a proxy, and the database as it is."""

    api: Api
    proxy: Proxy
    books: Books
    hosts: tuple[str, str]


@pytest.fixture(scope="module")
def one_world(ground: Ground) -> Iterator[World]:
    with ground.database() as url, ground.proxy() as proxy, api(through(proxy, url)) as service:
        hosts = tuple(service.host(new_uuid(), VCPU=100_000) for _ in range(2))
        books = Books(url)
        yield World(service, proxy, books, (hosts[0], hosts[1]))
        books.close()


@pytest.fixture
def world(one_world: World) -> Iterator[World]:
    """The same for all tests: whatever was done to it, it has to be whole afterwards."""
    yield one_world
    one_world.proxy.disarm()
    one_world.books.assert_sound()


def claims_one(world: World) -> Answer:
    consumer, before = new_uuid(), world.books.allocations()
    answer = world.api.put(f"/allocations/{consumer}", claim(world.hosts[0]))
    assert world.books.allocations() - before == {(consumer, world.hosts[0], "VCPU", 1): 1}
    assert world.books.consumers()[consumer] == (1, "p", "u")
    return answer


def claims_for_an_owner_nobody_knows(world: World) -> Answer:
    """Projects and users get rows of their own, which the service remembers once they are committed."""
    consumer, owner = new_uuid(), new_uuid()
    answer = world.api.put(f"/allocations/{consumer}", claim(world.hosts[0], project=owner, user=owner))
    assert world.books.consumers()[consumer] == (1, owner, owner)
    return answer


def claims_for_three_at_once(world: World) -> Answer:
    consumers, before = [new_uuid() for _ in range(3)], world.books.allocations()
    answer = world.api.post("/allocations", {uuid: claim(*world.hosts) for uuid in consumers})
    expected = {(uuid, host, "VCPU", 1): 1 for uuid in consumers for host in world.hosts}
    assert world.books.allocations() - before == expected
    return answer


def moves_a_claim(world: World) -> Answer:
    """The consumer is there already: its rows are taken away and written anew."""
    consumer, (left, right) = new_uuid(), world.hosts
    with_nothing_cut(world, lambda: world.api.put(f"/allocations/{consumer}", claim(left)))
    answer = world.api.put(f"/allocations/{consumer}", claim(right) | {"consumer_generation": 1})
    held = {row: times for row, times in world.books.allocations().items() if row[0] == consumer}
    assert held == {(consumer, right, "VCPU", 1): 1}
    assert world.books.consumers()[consumer][0] == 2
    return answer


def changes_an_inventory(world: World) -> Answer:
    host = world.hosts[0]
    generation = world.books.generations()[host]
    (total,) = (row[2] for row in world.books.inventories() if row[0] == host)
    answer = world.api.put(f"/resource_providers/{host}/inventories", inventory(generation, total + 1))
    assert world.books.generations()[host] == generation + 1
    assert (host, "VCPU", total + 1) in world.books.inventories()
    return answer


def makes_a_provider(world: World) -> Answer:
    name = new_uuid()
    answer = world.api.post("/resource_providers", {"name": name, "parent_provider_uuid": world.hosts[0]})
    assert world.books.names()[name] == 1
    return answer


def reads_a_provider(world: World) -> Answer:
    return world.api.get(f"/resource_providers/{world.hosts[0]}")


def reads_what_a_consumer_holds(world: World) -> Answer:
    return world.api.get(f"/allocations/{new_uuid()}")


Request = Callable[[World], Answer]
REQUESTS: tuple[Request, ...] = (
    claims_one,
    claims_for_an_owner_nobody_knows,
    claims_for_three_at_once,
    moves_a_claim,
    changes_an_inventory,
    makes_a_provider,
    reads_a_provider,
    reads_what_a_consumer_holds,
)
WRITES = REQUESTS[:-2]


def with_nothing_cut(world: World, request: Callable[[], Answer]) -> None:
    """Part of a request that is no part of the test."""
    choose = world.proxy.choice
    world.proxy.disarm()
    assert request().status < 300
    if choose is not None:
        world.proxy.arm(choose)


def cases() -> Iterator[ParameterSet]:
    for request in REQUESTS:
        for moment in Moment:
            quick = request in (claims_one, reads_a_provider) and moment is Moment.UNANSWERED
            name = f"{request.__name__}-{moment.name.lower()}"
            yield pytest.param(request, moment, id=name, marks=() if quick else pytest.mark.long)


@pytest.mark.parametrize(("request_", "moment"), list(cases()))
def test_a_connection_cut_at_any_message_is_not_noticed(
    world: World, request_: Request, moment: Moment
) -> None:
    for number in range(1, MOST_MESSAGES):
        head = world.books.head()
        world.proxy.arm(nth(number, moment))
        answer = request_(world)
        where = f"cut {moment.name} at message {number}: {world.proxy.cuts}"
        assert answer.status < 300, f"{where}: {answer.body!r}"
        assert len(world.books.operations(head)) == (1 + (request_ is moves_a_claim)) * (
            request_ in WRITES
        ), where
        if not world.proxy.cuts:
            assert number > 1, "nothing went through the proxy"
            return
    pytest.fail(f"more than {MOST_MESSAGES} messages")


@pytest.mark.parametrize("moment", Moment, ids=lambda moment: moment.name.lower())
@pytest.mark.parametrize("request_", WRITES, ids=lambda request: request.__name__)
def test_a_commit_whose_answer_is_lost_is_found_out_and_answered_once(
    world: World, request_: Request, moment: Moment
) -> None:
    request_(world)
    world.proxy.arm(first_with(b"COMMIT", moment))
    head = world.books.head()
    assert request_(world).status < 300
    assert len(world.proxy.cuts) == 1
    assert len(world.books.operations(head)) == 1 + (request_ is moves_a_claim)
