# SPDX-License-Identifier: Apache-2.0

"""Claims of other processes that are applied together have the same result as one after the other."""

from dataclasses import dataclass, field
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.ledger.change_codec import encode
from plimsoll.ledger.follow import _apply_each, _apply_in_bulk

PROVIDERS = ("a", "b", "c")
MISSING = "gone"
AT = datetime(2026, 1, 2, 3, 4, 5)
ACCOUNTS = (None, Account("p", "u", "INSTANCE"), Account("P", "u", "INSTANCE"), Account("q", "v", None))

allocations = st.lists(
    st.builds(
        Allocation,
        st.sampled_from((*PROVIDERS, MISSING)),
        st.sampled_from(("VCPU", "DISK_GB")),
        st.integers(1, 9),
    ),
    max_size=3,
).map(tuple)
claim = st.tuples(st.sampled_from("123"), allocations, st.sampled_from(ACCOUNTS))
raised = st.sampled_from(PROVIDERS)
renamed = st.integers()


@dataclass
class History:
    """Makes valid effects: a claim replaces what the consumer has, a generation is one higher than the last one."""

    held: dict[str, tuple[tuple[Allocation, ...], Account | None]] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)

    def effects(self, step: object) -> list[e.Effect]:
        if isinstance(step, int):
            return [e.ProviderRenamed("a", f"a-{step}", AT)]
        if isinstance(step, str):
            self.generations[step] = self.generations.get(step, 7) + 1
            return [e.GenerationRaised(step, self.generations[step], AT)]
        assert isinstance(step, tuple)
        consumer, after, account = step
        before, account_before = self.held.get(consumer, ((), None))
        self.held[consumer] = after, account
        replaced = e.AllocationsReplaced(consumer, before, after, account_before, account)
        return [replaced, e.ConsumerChanged(Consumer(consumer, "p", "u", None, 1), AT)]


def no_pause() -> None:
    """Nothing else runs."""


@given(st.lists(st.lists(st.one_of(claim, claim, raised, renamed), min_size=1, max_size=4), max_size=12))
def test_claims_applied_together_give_the_same_world(commands: list[list[object]]) -> None:
    history = History()
    lines = [encode([each for step in steps for each in history.effects(step)]) for steps in commands]
    providers = [
        Provider(id=number, uuid=uuid, name=uuid, root=uuid, generation=7)
        for number, uuid in enumerate(PROVIDERS)
    ]
    world = World.of(providers, semantics=DatabaseSemantics(key=str.lower))
    expected, actual = _apply_each(world, lines, no_pause), _apply_in_bulk(world, lines, no_pause)
    assert expected is not None
    assert actual is not None
    assert actual[0] == expected[0]
    times = [
        {uuid: each.modified_at for uuid, each in found.providers.items()} for found, _ in (actual, expected)
    ]
    assert times[0] == times[1]
    changed = {uuid for uuid in PROVIDERS if expected[0].providers[uuid] is not world.providers[uuid]}
    assert changed <= actual[1]


@given(st.integers(1, 30))
def test_each_changed_provider_is_replaced_once(claims: int) -> None:
    world = World.of([Provider(id=1, uuid="a", name="a", root="a")])
    history = History(generations={"a": 0})
    lines = [
        encode([*history.effects((str(number), (Allocation("a", "VCPU", 1),), None)), *history.effects("a")])
        for number in range(claims)
    ]
    applied = _apply_in_bulk(world, lines, no_pause)
    assert applied is not None
    after, touched = applied
    assert touched == {"a"}
    assert (after.providers["a"].used, after.providers["a"].generation) == ({"VCPU": claims}, claims)
