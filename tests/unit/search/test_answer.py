# SPDX-License-Identifier: Apache-2.0

"""Candidates in columns say the same as candidates one by one."""

from plimsoll.search.answer import Candidate, Combined, OneProviderEach
from tests.unit.search.clouds import Cloud, group, host, told

CLOUD = Cloud(
    host("h", "VCPU:4 DISK_GB:9"),
    host("n", "VCPU:4 PCI:1", parent="h"),
    host("i", "VCPU:4 DISK_GB:9 PCI:1"),
)
GROUPS = group("VCPU:1 DISK_GB:5"), group("VCPU:2 PCI:1", "_1")


def from_columns(found: Combined) -> list[Candidate]:
    made: dict[int, Candidate] = {}
    for part in found.parts:
        for place, number in enumerate(part.numbers):
            allocations = [(column.uuids[column.places[place]], amounts) for amounts, column in part.given]
            mappings = [
                (suffix, tuple(column.uuids[column.places[place]] for column in columns))
                for suffix, columns in part.served
            ]
            made[number] = Candidate(tuple(allocations), tuple(mappings))
    return [made[number] for number in range(len(found))]


def test_columns_and_candidates_agree() -> None:
    found = CLOUD.candidates(*GROUPS).requests
    assert isinstance(found, Combined)
    assert sorted(map(told, found)) == [
        "h DISK_GB:5 + n PCI:1 VCPU:3",
        "h DISK_GB:5 VCPU:1 + n PCI:1 VCPU:2",
        "i DISK_GB:5 PCI:1 VCPU:3",
    ]
    assert len(found.parts) == 3, "each of the three shares out the slots in its own way"
    assert from_columns(found) == list(found) == [found[0], *found[1:]]


def test_an_encoder_takes_pieces_by_place() -> None:
    found = CLOUD.candidates(group("VCPU:1")).requests
    assert isinstance(found, Combined)
    ((amounts, column),) = found.parts[0].given
    assert amounts == {"VCPU": 1}
    assert column.of([uuid.upper() for uuid in column.uuids]) == [c.allocations[0][0].upper() for c in found]


def test_there_may_be_no_candidates() -> None:
    cloud = Cloud(host("h", "VCPU:1"), host("n", "PCI:1", parent="h"), host("m", "PCI:1", parent="h"))
    pair = group("PCI:1", "_1"), group("PCI:1", "_2")
    found = cloud.candidates(*pair, group_policy="none", same_subtrees=(frozenset(["_1", "_2"]),))
    assert (list(found.requests), list(found.providers)) == ([], [])
    flat = Cloud(host("h", "VCPU:1")).candidates(group("VCPU:1")).requests
    assert isinstance(flat, OneProviderEach)
