# SPDX-License-Identifier: Apache-2.0

"""The index of a snapshot, brought up to date when it is asked for: as if it had been kept up all the time."""

from dataclasses import replace

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.ledger import snapshot as s
from plimsoll.ledger.snapshot import Origin, Snapshot
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index
from plimsoll.storage.head import Head


def provider(id_: int, uuid: str, name: str | None = None) -> Provider:
    return Provider(id=id_, uuid=uuid, name=name or uuid, root=uuid)


def names(index: Index) -> list[str]:
    """Of the live rows, in the order in which a search visits them."""
    return [each.name for each in index.providers(numbers_of(index.live, index.size).tolist())]


class Story:
    """The same changes, once with the index looked at after each, once only at the end."""

    def __init__(self, *providers: Provider) -> None:
        world = World.of(providers)
        self.lazy = self.eager = Snapshot.of(Head(1, 1), world, Origin())

    def then(self, world: World, *touched: str) -> None:
        head = Head(self.lazy.head.seq + 1, 1)
        self.lazy = self.lazy.advanced(head, world, set(touched))
        self.eager = self.eager.advanced(head, world, set(touched))
        assert self.eager.index.size

    def add(self, new: Provider) -> None:
        self.then(self.lazy.world.with_provider(new), new.uuid)

    def remove(self, uuid: str) -> None:
        self.then(self.lazy.world.without_provider(uuid), uuid)

    def agree(self) -> None:
        assert names(self.lazy.index) == names(self.eager.index)
        for each in self.lazy.world.providers.values():
            assert self.lazy.index.provider(self.lazy.index.row(each.uuid)) is each


def test_new_ones_come_in_the_order_of_their_ids() -> None:
    story = Story(provider(1, "a"))
    for id_, uuid in ((2, "x"), (3, "c"), (4, "m"), (5, "b")):
        story.add(provider(id_, uuid))
    story.agree()
    assert names(story.lazy.index) == ["a", "x", "c", "m", "b"]


def test_ids_and_uuids_that_come_back() -> None:
    """SQLite gives the number of the last row again, when that is gone."""
    story = Story(provider(1, "a"), provider(6, "v"), provider(7, "u"))
    story.remove("u")
    story.remove("v")
    story.add(provider(6, "u", "again"))
    story.add(provider(7, "w"))
    story.agree()
    story.add(provider(6, "u", "and again"))
    story.agree()


def test_one_that_came_and_went_leaves_nothing() -> None:
    story = Story(provider(1, "a"))
    story.add(provider(2, "b"))
    story.remove("b")
    story.agree()


def test_it_is_never_far_behind() -> None:
    story = Story(provider(1, "a"))
    for id_ in range(2, s.MOST_TOUCHED + 3):
        story.add(provider(id_, f"uuid {id_}"))
    assert len(story.lazy._indexed.touched) <= s.MOST_TOUCHED
    story.agree()


def test_what_was_moved_away_from_one_that_is_made_again_and_back() -> None:
    child = Provider(id=2, uuid="c", name="c", root="r", parent="r")
    story = Story(provider(1, "r"), child, provider(3, "x"))
    alone = replace(child, root="c", parent=None)
    story.add(alone)
    story.remove("r")
    story.add(provider(4, "r"))
    story.add(replace(child, generation=1))
    for index in (story.lazy.index, story.eager.index):
        assert index.roots_of(1 << index.row("c")) == 1 << index.row("r")
        assert index.below(1 << index.row("r")) == 1 << index.row("r") | 1 << index.row("c")


def test_claims_at_some_and_other_changes_at_others() -> None:
    stocked = [
        replace(provider(id_, uuid), inventories={"VCPU": Inventory(8)})
        for id_, uuid in ((1, "a"), (2, "b"), (3, "c"))
    ]
    story = Story(*stocked)
    story.add(replace(stocked[0], used={"VCPU": 3}))
    story.remove("b")
    story.add(provider(4, "d"))
    story.add(replace(stocked[2], used={"VCPU": 5}, traits=frozenset(["FAST"])))
    story.agree()
    for index in (story.lazy.index, story.eager.index):
        assert [index.stock("VCPU").room(index.row(uuid)) for uuid in ("a", "c")] == [5, 3]
        assert index.with_trait("FAST") == 1 << index.row("c")


def test_a_claim_below_one_that_is_made_again() -> None:
    child = Provider(id=2, uuid="c", name="c", root="r", parent="r", inventories={"VCPU": Inventory(8)})
    story = Story(provider(1, "r"), child)
    story.add(replace(child, root="c", parent=None))
    story.remove("r")
    story.add(provider(3, "r"))
    story.add(replace(child, used={"VCPU": 1}))
    story.agree()
    for index in (story.lazy.index, story.eager.index):
        assert index.roots_of(1 << index.row("c")) == 1 << index.row("r")
        assert index.stock("VCPU").room(index.row("c")) == 7


def at(*heads: Head) -> Snapshot:
    """One that has come by these."""
    snapshot = Snapshot.of(heads[0], World.of(()), Origin())
    for head in heads[1:]:
        snapshot = snapshot.advanced(head, snapshot.world, set())
    return snapshot


def test_a_head_that_was_passed_since_it_was_asked_for_is_behind_us() -> None:
    heads = [Head(seq, 10 * seq) for seq in range(1, 6)]
    snapshot = at(*heads)
    for head in heads[1:]:
        assert snapshot.has_come_by(head, since=heads[1])
    assert snapshot.has_come_by(heads[-1], since=heads[-1])


def test_a_head_from_before_that_is_of_a_database_that_was_set_back() -> None:
    heads = [Head(seq, 10 * seq) for seq in range(1, 6)]
    snapshot = at(*heads)
    assert not snapshot.has_come_by(heads[0], since=heads[1])
    assert not snapshot.has_come_by(heads[3], since=heads[4])
    assert not at(heads[4]).has_come_by(
        heads[3], since=heads[3]
    )  # read anew meanwhile: nothing is known of before


def test_a_head_of_others_is_not_passed() -> None:
    snapshot = at(Head(1, 10), Head(2, 20), Head(3, 30))
    assert not snapshot.has_come_by(Head(2, 99), since=Head(1, 10))
    assert not snapshot.has_come_by(Head(4, 40), since=Head(1, 10))


def test_no_more_heads_are_remembered_than_are_of_use() -> None:
    heads = [Head(seq, seq) for seq in range(1, 3 * s.MOST_PASSED)]
    snapshot = at(*heads)
    assert snapshot.has_come_by(heads[-s.MOST_PASSED], since=heads[0])
    assert not snapshot.has_come_by(heads[s.MOST_PASSED // 2], since=heads[0])
