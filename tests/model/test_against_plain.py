# SPDX-License-Identifier: Apache-2.0

"""Random operations on a real database, compared with the model in plain Python after each operation."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from plimsoll.domain.actor import Actor
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules.allocations import Claim
from plimsoll.domain.world import World
from plimsoll.ledger.history import PastSnapshots
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.ledger.verify import differences
from plimsoll.search.budget import Budget
from plimsoll.service import aggregates, allocations, inventories, providers, standards, traits, usages
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database, DatabaseOptions
from plimsoll.storage.schema import migrate
from tests.model.plain import PlainInventory, PlainPlacement

ACTOR = Actor()
PROVIDERS = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(6)]
CONSUMERS = [f"c0000000-0000-0000-0000-00000000000{n}" for n in range(5)]
PROJECTS = ["p", "q"]
CLASSES = ["VCPU", "MEMORY_MB", "DISK_GB"]
TRAITS = ["HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "MISC_SHARES_VIA_AGGREGATE"]

some_provider = st.sampled_from(PROVIDERS)
some_consumer = st.sampled_from(CONSUMERS)
inventory = st.builds(
    PlainInventory,
    total=st.integers(1, 12),
    reserved=st.integers(0, 4),
    ratio=st.sampled_from([0.0, 0.3333, 0.9, 1.0, 1.5, 16.0]),
    min_unit=st.integers(1, 2),
    max_unit=st.integers(1, 12),
    step_size=st.sampled_from([1, 1, 2, 3]),
)
amounts = st.dictionaries(
    some_provider, st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 8), min_size=1), max_size=3
)
generation_offset = st.sampled_from([0, 0, 0, 0, 1, -1])
"""Difference between the generation that a client sends and the current one; mostly 0."""


def in_full(world: World) -> object:
    """Return all that answers show of a world, times included."""
    providers = {uuid: dataclasses.asdict(provider) for uuid, provider in world.providers.items()}
    usages = {
        (project, kind, user): dict(sums)
        for project, types in world.usages.items()
        for kind, users in types.items()
        for user, sums in users.items()
    }
    names = [
        sorted((entry.id, entry.name, entry.modified_at) for entry in catalog)
        for catalog in (world.classes, world.traits, world.consumer_types)
    ]
    trees = {root: sorted(members) for root, members in world.trees.items()}
    return providers, usages, names, trees, dict(world.uuid_by_name.items())


class AgainstPlain(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name) / "plimsoll.sqlite"
        self.database = Database(f"sqlite:///{path}", DatabaseOptions(sqlite_synchronous=False))
        migrate.sync(self.database)
        self.placement = Placement(Ledger(self.database))
        standards.synchronise(self.placement)
        self.follower = Placement(Ledger(self.database))
        self.plain = PlainPlacement()
        self.worlds: dict[int, World] = {}
        """Copies of the world, by the number of the last change in it."""

    def teardown(self) -> None:
        self.check_history()
        assert differences(self.placement.ledger) == []
        assert differences(self.follower.ledger) == []
        self.database.dispose()
        self.directory.cleanup()

    def check_history(self) -> None:
        """The world as of each earlier change is the copy that was made then."""
        snapshot = self.placement.snapshot()
        past = PastSnapshots(self.database)
        for seq, copy in self.worlds.items():
            then = past.at(snapshot, seq, Budget())
            assert isinstance(then, Snapshot)
            assert in_full(then.world) == in_full(copy)

    def generation(self, provider: str) -> int:
        known = self.plain.providers.get(provider)
        return known.generation if known else 0

    def consumer_generation(self, consumer: str, offset: int) -> int | None:
        known = self.plain.consumers.get(consumer)
        if known is None:
            return None if offset == 0 else offset
        return known.generation + offset

    @rule(uuid=some_provider, name=st.sampled_from("abcdefgh"), parent=st.none() | some_provider)
    def create(self, uuid: str, name: str, parent: str | None) -> None:
        if parent == uuid:
            return
        made = providers.create(self.placement, ACTOR, uuid, name, parent)
        assert self.plain.create(uuid, name, parent) == (not isinstance(made, Refusal))

    @rule(uuid=some_provider, parent=st.none() | some_provider)
    def move(self, uuid: str, parent: str | None) -> None:
        known = self.plain.providers.get(uuid)
        name = known.name if known else "x"
        moved = providers.update(self.placement, ACTOR, uuid, name, parent, reparenting=True)
        assert self.plain.move(uuid, parent) == (not isinstance(moved, Refusal))

    @rule(uuid=some_provider)
    def delete(self, uuid: str) -> None:
        assert self.plain.delete(uuid) == (providers.delete(self.placement, ACTOR, uuid) is None)

    @rule(
        uuid=some_provider,
        offset=generation_offset,
        wanted=st.dictionaries(st.sampled_from(CLASSES), inventory),
    )
    def set_inventories(self, uuid: str, offset: int, wanted: dict[str, PlainInventory]) -> None:
        generation = self.generation(uuid) + offset
        real = {
            name: Inventory(i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.ratio)
            for name, i in wanted.items()
        }
        done = inventories.replace(self.placement, ACTOR, uuid, generation, real, reserve_all=True)
        assert self.plain.set_inventories(uuid, generation, wanted) == (not isinstance(done, Refusal))

    @rule(uuid=some_provider, wanted=st.sets(st.sampled_from(TRAITS)))
    def set_traits(self, uuid: str, wanted: set[str]) -> None:
        done = traits.set_for_provider(self.placement, ACTOR, uuid, self.generation(uuid), wanted)
        assert self.plain.set_traits(uuid, wanted) == (not isinstance(done, Refusal))

    @rule(uuid=some_provider, offset=generation_offset, wanted=st.sets(st.sampled_from("xyz")))
    def set_aggregates(self, uuid: str, offset: int, wanted: set[str]) -> None:
        generation = self.generation(uuid) + offset
        done = aggregates.set_for_provider(self.placement, ACTOR, uuid, wanted, generation)
        assert self.plain.set_aggregates(uuid, generation, wanted) == (not isinstance(done, Refusal))

    @rule(
        wanted=st.dictionaries(some_consumer, st.tuples(generation_offset, amounts), min_size=1, max_size=3),
        project=st.sampled_from(PROJECTS),
        user=st.sampled_from("uv"),
    )
    def claim(
        self, wanted: dict[str, tuple[int, dict[str, dict[str, int]]]], project: str, user: str
    ) -> None:
        claims = {
            uuid: (self.consumer_generation(uuid, offset), held) for uuid, (offset, held) in wanted.items()
        }
        refusal = allocations.claim(
            self.placement,
            ACTOR,
            [
                Claim(uuid, held, project, user, "INSTANCE", expected_generation)
                for uuid, (expected_generation, held) in claims.items()
            ],
        )
        assert self.plain.claim(claims, project) == (refusal is None)

    @rule(uuid=some_consumer)
    def release(self, uuid: str) -> None:
        assert self.plain.release(uuid) == (allocations.release(self.placement, ACTOR, uuid) is None)

    @invariant()
    def copy_the_world(self) -> None:
        snapshot = self.placement.snapshot()
        self.worlds[snapshot.head.seq] = snapshot.world

    @invariant()
    def providers_are_equal(self) -> None:
        for placement in (self.placement, self.follower):
            world = placement.world()
            assert set(world.providers.keys()) == self.plain.providers.keys()
            for uuid, plain in self.plain.providers.items():
                real = world.providers[uuid]
                assert (real.name, real.parent, real.root) == (
                    plain.name,
                    plain.parent,
                    self.plain.root(uuid),
                )
                assert real.generation == plain.generation
                assert real.traits == plain.traits
                assert real.aggregates == plain.aggregates
                assert real.inventories.keys() == plain.inventories.keys()
                used = {name: self.plain.used(uuid, name) for name in CLASSES}
                assert real.used == {name: amount for name, amount in used.items() if amount}

    @invariant()
    def usages_are_equal(self) -> None:
        for project in PROJECTS:
            used = self.plain.used_by(project)
            assert usages.of_owner(self.placement, project, None) == used
            assert usages.of_owner(self.follower, project, None) == used

    @invariant()
    def consumers_are_equal(self) -> None:
        for uuid in CONSUMERS:
            found = allocations.of_consumer(self.placement, uuid)
            plain = self.plain.consumers.get(uuid)
            assert (found.consumer is None) == (plain is None)
            if plain is not None and found.consumer is not None:
                assert found.consumer.generation == plain.generation
                assert {p: held for p, (_, held) in found.by_provider.items()} == plain.holds


TestAgainstPlain = AgainstPlain.TestCase
TestAgainstPlain.settings = settings(
    max_examples=30,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    # Each step writes to a real database: shrinking would take longer than reading the steps.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
