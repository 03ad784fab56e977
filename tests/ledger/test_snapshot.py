# SPDX-License-Identifier: Apache-2.0

"""The index of a snapshot is updated at its first use, with the same result as after each change."""

from dataclasses import replace

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.ledger import snapshot as s
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index
from plimsoll.storage.head import Head


def provider(id_: int, uuid: str, name: str | None = None) -> Provider:
    return Provider(id=id_, uuid=uuid, name=name or uuid, root=uuid)


def names(index: Index) -> list[str]:
    """Return the names of the live rows, in the order in which a search visits them."""
    return [each.name for each in index.providers(numbers_of(index.live, index.size).tolist())]


class LazyAndEager:
    """The same changes twice: with the index used after each of them, and only at the end."""

    def __init__(self, *providers: Provider) -> None:
        world = World.of(providers)
        self.lazy = self.eager = Snapshot.of(Head(1, 1), world, Origin(), ResponseCache())

    def advance(self, world: World, *touched: str) -> None:
        head = Head(self.lazy.head.seq + 1, 1)
        self.lazy = self.lazy.advanced([head], world, set(touched))
        self.eager = self.eager.advanced([head], world, set(touched))
        assert self.eager.index.size

    def add(self, new: Provider) -> None:
        self.advance(self.lazy.world.with_provider(new), new.uuid)

    def remove(self, uuid: str) -> None:
        self.advance(self.lazy.world.without_provider(uuid), uuid)

    def assert_equal(self) -> None:
        assert names(self.lazy.index) == names(self.eager.index)
        for each in self.lazy.world.providers.values():
            assert self.lazy.index.provider(self.lazy.index.row(each.uuid)) is each


def test_new_providers_are_indexed_in_the_order_of_their_ids() -> None:
    pair = LazyAndEager(provider(1, "a"))
    for id_, uuid in ((2, "x"), (3, "c"), (4, "m"), (5, "b")):
        pair.add(provider(id_, uuid))
    pair.assert_equal()
    assert names(pair.lazy.index) == ["a", "x", "c", "m", "b"]


def test_ids_and_uuids_are_reused() -> None:
    """SQLite reuses the id of the last row after its removal."""
    pair = LazyAndEager(provider(1, "a"), provider(6, "v"), provider(7, "u"))
    pair.remove("u")
    pair.remove("v")
    pair.add(provider(6, "u", "again"))
    pair.add(provider(7, "w"))
    pair.assert_equal()
    pair.add(provider(6, "u", "and again"))
    pair.assert_equal()


def test_a_provider_that_was_added_and_removed_leaves_no_row() -> None:
    pair = LazyAndEager(provider(1, "a"))
    pair.add(provider(2, "b"))
    pair.remove("b")
    pair.assert_equal()


def test_the_number_of_pending_changes_of_the_index_is_bounded() -> None:
    pair = LazyAndEager(provider(1, "a"))
    for id_ in range(2, s.MAX_TOUCHED + 3):
        pair.add(provider(id_, f"uuid {id_}"))
    assert len(pair.lazy._lazy_index.touched) <= s.MAX_TOUCHED
    pair.assert_equal()


def test_a_child_that_was_moved_away_from_a_recreated_parent_and_back() -> None:
    child = Provider(id=2, uuid="c", name="c", root="r", parent="r")
    pair = LazyAndEager(provider(1, "r"), child, provider(3, "x"))
    alone = replace(child, root="c", parent=None)
    pair.add(alone)
    pair.remove("r")
    pair.add(provider(4, "r"))
    pair.add(replace(child, generation=1))
    for index in (pair.lazy.index, pair.eager.index):
        assert index.roots_of(1 << index.row("c")) == 1 << index.row("r")
        assert index.rows_of_trees(1 << index.row("r")) == 1 << index.row("r") | 1 << index.row("c")


def test_claims_and_other_changes_together() -> None:
    stocked = [
        replace(provider(id_, uuid), inventories={"VCPU": Inventory(8)})
        for id_, uuid in ((1, "a"), (2, "b"), (3, "c"))
    ]
    pair = LazyAndEager(*stocked)
    pair.add(replace(stocked[0], used={"VCPU": 3}))
    pair.remove("b")
    pair.add(provider(4, "d"))
    pair.add(replace(stocked[2], used={"VCPU": 5}, traits=frozenset(["FAST"])))
    pair.assert_equal()
    for index in (pair.lazy.index, pair.eager.index):
        assert [index.class_column("VCPU").room(index.row(uuid)) for uuid in ("a", "c")] == [5, 3]
        assert index.with_trait("FAST") == 1 << index.row("c")


def test_a_claim_on_a_child_of_a_recreated_provider() -> None:
    child = Provider(id=2, uuid="c", name="c", root="r", parent="r", inventories={"VCPU": Inventory(8)})
    pair = LazyAndEager(provider(1, "r"), child)
    pair.add(replace(child, root="c", parent=None))
    pair.remove("r")
    pair.add(provider(3, "r"))
    pair.add(replace(child, used={"VCPU": 1}))
    pair.assert_equal()
    for index in (pair.lazy.index, pair.eager.index):
        assert index.roots_of(1 << index.row("c")) == 1 << index.row("r")
        assert index.class_column("VCPU").room(index.row("c")) == 7


def at(*heads: Head) -> Snapshot:
    """Return a snapshot that has been at these heads, one after the other."""
    snapshot = Snapshot.of(heads[0], World.of(()), Origin(), ResponseCache())
    for head in heads[1:]:
        snapshot = snapshot.advanced([head], snapshot.world, set())
    return snapshot


def test_a_head_that_was_passed_since_its_query_is_contained() -> None:
    heads = [Head(seq, 10 * seq) for seq in range(1, 6)]
    snapshot = at(*heads)
    for head in heads[1:]:
        assert snapshot.contains(head, since=heads[1])
    assert snapshot.contains(heads[-1], since=heads[-1])


def test_a_head_from_before_its_query_is_of_a_restored_database() -> None:
    heads = [Head(seq, 10 * seq) for seq in range(1, 6)]
    snapshot = at(*heads)
    assert not snapshot.contains(heads[0], since=heads[1])
    assert not snapshot.contains(heads[3], since=heads[4])
    assert not at(heads[4]).contains(heads[3], since=heads[3])  # after a full load there are no earlier heads


def test_a_head_of_another_process_is_not_contained() -> None:
    snapshot = at(Head(1, 10), Head(2, 20), Head(3, 30))
    assert not snapshot.contains(Head(2, 99), since=Head(1, 10))
    assert not snapshot.contains(Head(4, 40), since=Head(1, 10))


def test_the_number_of_stored_heads_is_bounded() -> None:
    heads = [Head(seq, seq) for seq in range(1, 3 * s.MAX_PAST_HEADS)]
    snapshot = at(*heads)
    assert snapshot.contains(heads[-s.MAX_PAST_HEADS], since=heads[0])
    assert not snapshot.contains(heads[s.MAX_PAST_HEADS // 2], since=heads[0])
