# SPDX-License-Identifier: Apache-2.0

"""The documents of each version."""

import json
import operator
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from plimsoll.api.placement.microversion import HIGHEST, VERSIONS
from plimsoll.api.placement.views import allocations, candidates, inventories, names, providers, usages
from plimsoll.api.placement.views.json_cache import JsonCache
from plimsoll.domain.consumer import Consumer, ConsumerAllocations, ProviderAllocations
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import NO_PROVIDERS, Selection
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.result import NO_CANDIDATES, Candidate, CandidateList, Candidates, UniformCandidates

HOST = Provider(
    id=1,
    uuid="host",
    name="Höst",
    root="host",
    generation=3,
    inventories={
        "VCPU": Inventory(total=8, allocation_ratio=2.0),
        "DISK_GB": Inventory(total=100, reserved=10),
    },
    used={"VCPU": 5},
    traits=frozenset({"CUSTOM_A"}),
)
CHILD = Provider(id=2, uuid="child", name="child", root="host", parent="host")
REQUEST = CandidatesRequest(groups=(Group("", {"VCPU": 1}),))


def selection(*several: Provider) -> Selection:
    """Select these providers from an index of HOST and CHILD, in which they replace those with the same uuid."""
    index = Index.build({each.uuid: each for each in (HOST, CHILD, *several)}.values())
    return Selection(index, np.array([index.row(each.uuid) for each in several]))


def shown(several: Sequence[Provider], minor: int, prefix: str = "") -> Any:
    return json.loads(providers.providers(selection(*several), VERSIONS[minor], prefix))["resource_providers"]


@pytest.mark.parametrize(
    ("minor", "links"),
    [
        (0, ["self", "inventories", "usages"]),
        (1, ["self", "inventories", "usages", "aggregates"]),
        (6, ["self", "inventories", "usages", "aggregates", "traits"]),
        (11, ["self", "inventories", "usages", "aggregates", "traits", "allocations"]),
    ],
)
def test_a_provider_has_the_links_of_its_version(minor: int, links: list[str]) -> None:
    assert [link["rel"] for link in shown([HOST], minor)[0]["links"]] == links


def test_links_begin_with_the_mount_prefix() -> None:
    one = json.loads(providers.provider(HOST, HIGHEST, "/placement"))
    assert {link["href"].removeprefix("/placement/resource_providers/host") for link in one["links"]} == {
        *("", "/inventories", "/usages", "/aggregates", "/traits", "/allocations")
    }


def test_parent_and_root_are_shown_since_there_are_trees() -> None:
    assert "root_provider_uuid" not in shown([CHILD], 13)[0]
    assert shown([CHILD], 14)[0]["root_provider_uuid"] == "host"
    assert shown([HOST], 14)[0]["parent_provider_uuid"] is None


def test_a_provider_has_the_same_json_alone_and_in_a_list() -> None:
    for version in VERSIONS:
        assert shown([HOST], version.minor, "/p")[0] == json.loads(providers.provider(HOST, version, "/p"))


def test_a_changed_provider_is_shown_as_it_is_now() -> None:
    assert shown([HOST], 39)[0]["generation"] == 3
    assert shown([replace(HOST, generation=4)], 39)[0]["generation"] == 4


def test_a_provider_is_encoded_once_and_again_when_it_changes() -> None:
    encoded: list[Provider] = []

    def encode(provider: Provider) -> bytes:
        encoded.append(provider)
        return provider.name.encode()

    cache = JsonCache(encode)
    assert cache.of(selection(HOST)) == ["Höst".encode()]
    assert cache.of(selection(CHILD)) == [b"child"]
    assert cache.of(selection(CHILD, HOST, CHILD)) == [b"child", "Höst".encode(), b"child"]
    renamed = replace(HOST, name="other")
    assert cache.of(selection(renamed)) == [b"other"]
    assert encoded == [HOST, CHILD, renamed]


def many_hosts(count: int) -> list[Provider]:
    return [replace(HOST, id=n + 1, uuid=f"h{n}", name=f"h{n}", root=f"h{n}") for n in range(count)]


def test_the_joined_json_of_a_chunk_is_cached_until_a_provider_in_it_changes() -> None:
    cache = JsonCache(lambda provider: provider.name.encode())
    hosts = many_hosts(600)
    index = Index.build(hosts)
    rows = np.arange(600)
    all_hosts = [provider.name.encode() for provider in hosts]
    all_pieces = cache.of(Selection(index, rows))
    assert len(all_pieces) == 3
    assert b",".join(all_pieces) == b",".join(all_hosts)
    assert all(map(operator.is_, all_pieces, cache.of(Selection(index, rows))))
    # The selection lacks one provider of the first chunk; the last chunk has a renamed provider.
    all_hosts[599] = b"other"
    del all_hosts[3]
    later = index.updated([(hosts[599], replace(hosts[599], name="other"))])
    pieces = cache.of(Selection(later, np.delete(rows, 3)))
    assert b",".join(pieces) == b",".join(all_hosts)
    assert pieces[-2] is all_pieces[1]


def test_a_long_list_pauses_between_chunks() -> None:
    hosts = many_hosts(600)
    pauses: list[None] = []
    listed = providers.providers(
        Selection(Index.build(hosts), np.arange(600)), HIGHEST, "", lambda: pauses.append(None)
    )
    assert len(json.loads(listed)["resource_providers"]) == 600
    assert len(pauses) == 3


def test_a_removed_provider_leaves_its_chunk_whole() -> None:
    cache = JsonCache(lambda provider: provider.name.encode())
    hosts = many_hosts(200)
    index = Index.build(hosts).updated([(hosts[1], None)])
    all_hosts = b",".join(host.name.encode() for host in hosts if host is not hosts[1])
    assert cache.of(Selection(index, np.delete(np.arange(200), 1))) == [all_hosts]


def test_the_cached_json_of_a_provider_is_not_used_for_another_at_its_address() -> None:
    cache = JsonCache(lambda provider: provider.name.encode())
    for number in range(1000):  # each is freed before the next but one is made, which can get its address
        provider = replace(HOST, uuid=f"host {number % 3}", name=str(number))
        assert cache.of(selection(provider)) == [str(number).encode()]


def test_the_time_of_a_list_is_that_of_its_last_change() -> None:
    noon, later = datetime(2026, 1, 1, 12), datetime(2026, 1, 2, 12)
    hosts = [replace(host, modified_at=noon) for host in many_hosts(600)]
    index = Index.build(hosts)
    all_hosts = np.arange(600)
    assert list(providers.modification_times(Selection(index, all_hosts))) == [noon, noon, noon]
    updated = index.updated([(hosts[300], replace(hosts[300], modified_at=later))])
    assert list(providers.modification_times(Selection(updated, all_hosts))) == [noon, later, noon]
    assert list(providers.modification_times(Selection(updated, np.array([1, 300])))) == [noon, later]
    unknown = index.updated([(hosts[5], replace(hosts[5], modified_at=None))])
    assert list(providers.modification_times(Selection(unknown, all_hosts))) == [None, noon, noon]
    assert list(providers.modification_times(NO_PROVIDERS)) == []


def test_each_prefix_has_its_own_cache() -> None:
    for prefix in ("/one", "/two", "/one"):
        (shown,) = json.loads(providers.providers(selection(HOST), HIGHEST, prefix))["resource_providers"]
        assert {"rel": "self", "href": f"{prefix}/resource_providers/{HOST.uuid}"} in shown["links"]


def test_the_generation_goes_with_an_inventory_unless_there_is_none() -> None:
    figures = Inventory(total=8).figures()
    assert inventories.inventory(figures, 2)["resource_provider_generation"] == 2
    assert "resource_provider_generation" not in inventories.inventory(figures, 0)


def test_usage_of_a_provider_shows_all_its_classes() -> None:
    assert usages.of_provider(HOST)["usages"] == {"VCPU": 5, "DISK_GB": 0}


def test_usage_by_type_counts_consumers() -> None:
    found = {"INSTANCE": (2, {"VCPU": 5}), "unknown": (1, {})}
    assert usages.by_type(found)["usages"] == {
        "INSTANCE": {"VCPU": 5, "consumer_count": 2},
        "unknown": {"consumer_count": 1},
    }


def test_aggregates_have_a_generation_since_that_feature() -> None:
    assert names.aggregates(["a"], 7, VERSIONS[18]) == {"aggregates": ["a"]}
    assert names.aggregates(["a"], 7, VERSIONS[19])["resource_provider_generation"] == 7


@pytest.mark.parametrize(
    ("minor", "members"),
    [
        (11, {"allocations"}),
        (12, {"allocations", "project_id", "user_id"}),
        (28, {"allocations", "project_id", "user_id", "consumer_generation"}),
        (38, {"allocations", "project_id", "user_id", "consumer_generation", "consumer_type"}),
    ],
)
def test_a_consumer_has_the_members_of_its_version(minor: int, members: set[str]) -> None:
    found = ConsumerAllocations(Consumer("c", "p", "u", "INSTANCE", 1), {"host": (3, {"VCPU": 2})}, None)
    consumer = allocations.of_consumer(found, VERSIONS[minor])
    assert consumer.keys() == members
    assert consumer["allocations"] == {"host": {"generation": 3, "resources": {"VCPU": 2}}}


def test_a_consumer_from_before_types_has_an_unknown_one() -> None:
    found = ConsumerAllocations(Consumer("c", "p", "u", None, 1), {"host": (3, {"VCPU": 2})}, None)
    assert allocations.of_consumer(found, HIGHEST)["consumer_type"] == "unknown"


def test_a_consumer_without_allocations_has_no_members() -> None:
    found = ConsumerAllocations(Consumer("c", "p", "u", None, 0), {}, None)
    assert allocations.of_consumer(found, HIGHEST) == {"allocations": {}}


def test_consumers_of_a_provider_have_generations_since_that_feature() -> None:
    found = ProviderAllocations(7, {"c": (4, {"VCPU": 2})}, None)
    pauses: list[int] = []
    before, since = (
        allocations.of_provider(found, VERSIONS[minor], lambda: pauses.append(1))["allocations"]["c"]
        for minor in (27, 28)
    )
    assert before == {"resources": {"VCPU": 2}}
    assert since["consumer_generation"] == 4
    assert len(pauses) == 2, "one for each consumer"


def candidates_at(minor: int, found: Candidates) -> Any:
    return json.loads(candidates.candidates(found, REQUEST, VERSIONS[minor]))


def in_columns(*candidates: Candidate) -> CandidateList:
    known = {HOST.uuid: HOST, CHILD.uuid: CHILD}

    def of(uuid: str) -> Selection:
        return selection(known[uuid])

    parts = [
        UniformCandidates(
            np.array([number]),
            tuple((amounts, of(uuid)) for uuid, amounts in candidate.allocations),
            tuple((suffix, tuple(map(of, uuids))) for suffix, uuids in candidate.mappings),
        )
        for number, candidate in enumerate(candidates)
    ]
    return CandidateList(len(parts), 1, lambda which: parts[which])


TREE = Candidates(
    requests=in_columns(
        Candidate((("host", {"VCPU": 1}), ("child", {"VGPU": 1})), (("_G", ("child",)), ("", ("host",)))),
        Candidate((("host", {"VCPU": 1}),), (("", ("host", "child")),)),
    ),
    providers=selection(HOST, CHILD),
)


def test_candidates_are_lists_until_allocations_are_keyed() -> None:
    first = candidates_at(11, TREE)["allocation_requests"][0]
    assert first == {
        "allocations": [
            {"resource_provider": {"uuid": "host"}, "resources": {"VCPU": 1}},
            {"resource_provider": {"uuid": "child"}, "resources": {"VGPU": 1}},
        ]
    }


def test_candidates_are_keyed_and_later_mapped() -> None:
    keyed = {"host": {"resources": {"VCPU": 1}}, "child": {"resources": {"VGPU": 1}}}
    assert candidates_at(33, TREE)["allocation_requests"][0] == {"allocations": keyed}
    assert candidates_at(34, TREE)["allocation_requests"][0] == {
        "allocations": keyed,
        "mappings": {"_G": ["child"], "": ["host"]},
    }
    assert candidates_at(34, TREE)["allocation_requests"][1] == {
        "allocations": {"host": {"resources": {"VCPU": 1}}},
        "mappings": {"": ["host", "child"]},
    }


@pytest.mark.parametrize("minor", [10, 12, 34, 39])
def test_candidates_have_the_same_json_in_one_part_and_in_several(minor: int) -> None:
    each = selection(HOST, CHILD)
    alike = UniformCandidates(np.arange(2), (({"VCPU": 1}, each),), (("", (each,)), ("_A", (each,))))
    single = CandidateList(2, 1, lambda _: (alike,))
    plain = Candidates(in_columns(*single), NO_PROVIDERS)
    assert candidates_at(minor, Candidates(single, NO_PROVIDERS)) == candidates_at(minor, plain)
    assert len(candidates_at(minor, plain)["allocation_requests"]) == 2


@pytest.mark.parametrize(
    ("minor", "members", "classes"),
    [
        (10, {"resources"}, {"VCPU"}),
        (17, {"resources", "traits"}, {"VCPU"}),
        (27, {"resources", "traits"}, {"VCPU", "DISK_GB"}),
        (29, {"resources", "traits", "parent_provider_uuid", "root_provider_uuid"}, {"VCPU", "DISK_GB"}),
    ],
)
def test_a_summary_has_the_members_of_its_version(minor: int, members: set[str], classes: set[str]) -> None:
    summary = candidates_at(minor, TREE)["provider_summaries"]["host"]
    assert summary.keys() == members
    assert summary["resources"].keys() == classes
    assert summary["resources"]["VCPU"] == {"capacity": 16, "used": 5}


def test_no_candidates_are_an_empty_document() -> None:
    assert candidates_at(39, NO_CANDIDATES) == {"allocation_requests": [], "provider_summaries": {}}


def test_a_capacity_may_be_larger_than_64_bits() -> None:
    vast = replace(HOST, inventories={"VCPU": Inventory(total=2**31 - 1, allocation_ratio=3.4e38)})
    summary = candidates_at(39, Candidates(in_columns(), selection(vast)))["provider_summaries"]["host"]
    assert summary["resources"]["VCPU"]["capacity"] == vast.inventories["VCPU"].capacity


def test_providers_under_a_long_prefix_are_not_cached() -> None:
    cached = providers._shared_json_cache.cache_info().currsize
    for number in range(3):
        prefix = f"/{number}" + "p" * 5_000
        (host,) = shown([HOST], 39, prefix)
        assert host["links"][0]["href"] == f"{prefix}/resource_providers/host"
    assert providers._shared_json_cache.cache_info().currsize == cached
