# SPDX-License-Identifier: Apache-2.0

"""Candidates in columns equal candidates built one by one."""

from collections import Counter

from plimsoll.search.result import Candidate, CandidateList
from tests.unit.search.clouds import Cloud, allocations_of, group, host

CLOUD = Cloud(
    host("h", "VCPU:4 DISK_GB:9"), host("n", "VCPU:4 PCI:1", parent="h"), host("i", "VCPU:4 DISK_GB:9 PCI:1")
)
GROUPS = group("VCPU:1 DISK_GB:5"), group("VCPU:2 PCI:1", "_1")


def from_columns(found: CandidateList) -> list[Candidate]:
    made: dict[int, Candidate] = {}
    for part in found.parts():
        for place, number in enumerate(part.numbers):
            allocations = [(list(column)[place].uuid, amounts) for amounts, column in part.allocated]
            mappings = [
                (suffix, tuple(list(column)[place].uuid for column in columns))
                for suffix, columns in part.served
            ]
            made[number] = Candidate(tuple(allocations), tuple(mappings))
    return [made[number] for number in range(len(found))]


def test_columns_and_candidates_agree() -> None:
    found = CLOUD.candidates(*GROUPS).requests
    assert sorted(map(allocations_of, found)) == [
        "h DISK_GB:5 + n PCI:1 VCPU:3",
        "h DISK_GB:5 VCPU:1 + n PCI:1 VCPU:2",
        "i DISK_GB:5 PCI:1 VCPU:3",
    ]
    assert len(list(found.parts())) == 3, "in each of the three candidates, different slots share a provider"
    assert from_columns(found) == list(found)


def test_there_may_be_no_candidates() -> None:
    cloud = Cloud(host("h", "VCPU:1"), host("n", "PCI:1", parent="h"), host("m", "PCI:1", parent="h"))
    pair = group("PCI:1", "_1"), group("PCI:1", "_2")
    found = cloud.candidates(*pair, group_policy="none", same_subtrees=(frozenset(["_1", "_2"]),))
    assert (list(found.requests), list(found.providers)) == ([], [])


def test_amounts_are_summed_when_many_slots_share_providers() -> None:
    cloud = Cloud(host("h"), host("n", "PCI:30", parent="h"), host("m", "PCI:30", parent="h"))
    many = [group("PCI:1", f"_{number}") for number in range(40)]
    found = cloud.candidates(*many, group_policy="none", limit=5).requests
    assert len(found) == 5
    for candidate in found:
        served = Counter(uuids[0] for _, uuids in candidate.mappings)
        assert dict(candidate.allocations) == {uuid: {"PCI": count} for uuid, count in served.items()}
