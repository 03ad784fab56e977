# SPDX-License-Identifier: Apache-2.0

"""A made-up cloud is written through the API of a real service, in process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.bootstrap import temporary_application
from plimsoll.cli.demo_service import sender_to
from plimsoll.client.errors import RefusedRequest
from plimsoll.demo.cloud import plan_cloud
from plimsoll.demo.sender import Sender
from plimsoll.demo.traffic import Traffic, aggregates_of
from plimsoll.demo.trouble import searches
from plimsoll.demo.workload import consumers_of
from plimsoll.demo.writing import is_empty, write_cloud
from tests.support.api import configuration

CLOUD = plan_cloud(120)


@pytest.fixture(scope="module")
def sender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sender]:
    """A service with the cloud."""
    database: Path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    with temporary_application(configuration(database)) as application:
        sender = sender_to(application)
        assert is_empty(sender)
        steps: Counter[str] = Counter()
        consumers = write_cloud(sender, CLOUD, lambda step, *_: steps.update([step]))
        assert set(steps) == {"hosts", "consumers", "trouble"}
        assert consumers == sum(len(each) for each in consumers_of(CLOUD))
        yield sender


def test_the_service_has_what_was_planned(sender: Sender) -> None:
    providers = sender.require("GET", "/plimsoll/v1/providers?fields=name,traits,aggregates")["providers"]
    planned = [*CLOUD.pools, *(node for host in CLOUD.hosts for node in host.nodes)]
    assert {each["name"]: set(each["traits"]) for each in providers} == {
        node.name: set(node.traits) for node in planned
    }
    assert not is_empty(sender)


def test_some_hosts_are_over_full_and_some_consumers_have_no_type(sender: Sender) -> None:
    over_full = sender.require("GET", "/plimsoll/v1/providers?over_full=true&fields=name")["providers"]
    assert over_full
    for kind in ("INSTANCE", "MIGRATION", "unknown"):
        assert sender.require("GET", f"/plimsoll/v1/consumers?type={kind}&limit=1")["consumers"], kind


def test_the_searches_find_nothing(sender: Sender) -> None:
    for query in searches(CLOUD):
        found = sender.require("GET", f"/allocation_candidates?{query}")
        assert found["allocation_requests"] == [], query


def test_writing_it_again_is_refused(sender: Sender) -> None:
    with pytest.raises(RefusedRequest, match="409"):
        write_cloud(sender, CLOUD, lambda *_: None)


def test_traffic_boots_deletes_and_moves(sender: Sender) -> None:
    before = sender.require("GET", "/plimsoll/v1/usage")["revision"]
    traffic = Traffic(sender, list(searches(CLOUD)), aggregates_of(sender), random.Random(7))
    for _ in range(80):
        traffic.act()
    assert {"boots", "deletions", "migrations", "failed searches"} <= set(traffic.counts)
    assert traffic.counts.total() == 80
    assert sender.require("GET", "/plimsoll/v1/usage")["revision"] != before


def test_refused_boots_do_not_let_deletions_empty_the_cloud() -> None:
    calls: list[str] = []
    consumer = b'{"uuid": "a", "allocations": {"p": {"resources": {"VCPU": 1}}}, "generation": 1, "type": "INSTANCE"}'

    def send(method: str, path: str, _body: bytes, _headers: dict[str, str]) -> tuple[int, bytes]:
        calls.append(method)
        if path.startswith("/plimsoll/v1/consumers"):
            return 200, b'{"consumers": [%b]}' % consumer
        return (204, b"") if method == "DELETE" else (200, b'{"allocation_requests": []}')

    traffic = Traffic(Sender(send, "placement 1.37"), ["resources=VCPU:1"], {}, random.Random(7))
    for _ in range(200):
        traffic.act()
    assert calls.count("DELETE") == 5
