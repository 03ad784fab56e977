# SPDX-License-Identifier: Apache-2.0

"""Sums of usage by owner equal the allocations after every kind of change."""

from plimsoll.domain.consumer import REMOVED_PROVIDER, Account, Allocation, Consumer, Holding
from plimsoll.domain.draft import Draft
from plimsoll.domain.effects import AllocationsReplaced, ClassRenamed
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.rules.allocations import Claim, claim, release
from plimsoll.domain.rules.reshape import NewInventories, Reshape, reshape
from plimsoll.domain.usage import CONSUMERS, Sums
from tests.support.worlds import NOON, draft, holding, provider

HOST = provider("p", inventories={"VCPU": 100, "DISK_GB": 100, "CUSTOM_GOLD": 100}, used={"VCPU": 8})


def wants(
    consumer: str, project: str = "red", user: str = "ann", type_: str | None = None, **amounts: int
) -> Claim:
    return Claim(consumer, {"p": amounts} if amounts else {}, project, user, type_)


def claimed(*claims: Claim, **holdings: Holding) -> Draft:
    d = draft(HOST, **holdings)
    assert claim(d, claims) is None
    return d


def used(d: Draft, project: str = "red", user: str | None = None) -> dict[str | None, Sums]:
    return d.world.usage_by_type(project, user)


def test_a_claim_counts_for_its_project_its_user_and_its_type() -> None:
    d = claimed(wants("c", type_="INSTANCE", VCPU=2, DISK_GB=5), wants("d", user="bob", VCPU=1))
    instance, untyped = {CONSUMERS: 1, "VCPU": 2, "DISK_GB": 5}, {CONSUMERS: 1, "VCPU": 1}
    assert used(d) == {"INSTANCE": instance, None: untyped}
    assert used(d, user="ann") == {"INSTANCE": instance}
    assert used(d, user="bob") == {None: untyped}
    assert used(d, user="eve") == used(d, "blue") == {}


def test_consumers_of_one_owner_are_added_up_and_so_are_users_of_a_project() -> None:
    d = claimed(wants("c", VCPU=2), wants("d", VCPU=3), wants("e", user="bob", DISK_GB=1))
    assert used(d, user="ann") == {None: {CONSUMERS: 2, "VCPU": 5}}
    assert used(d) == {None: {CONSUMERS: 3, "VCPU": 5, "DISK_GB": 1}}


def test_a_consumer_on_several_providers_is_one_consumer() -> None:
    d = draft(HOST, provider("q", inventories={"VCPU": 4}))
    assert claim(d, [Claim("c", {"p": {"VCPU": 1}, "q": {"VCPU": 2}}, "red", "ann")]) is None
    assert used(d) == {None: {CONSUMERS: 1, "VCPU": 3}}


def test_replaced_allocations_no_longer_count() -> None:
    d = claimed(wants("c", "project", "user", DISK_GB=1), c=holding("c", p={"VCPU": 4}))
    assert used(d, "project") == {None: {CONSUMERS: 1, "DISK_GB": 1}}


def test_usage_moves_to_another_project_user_or_type_although_the_amounts_stay() -> None:
    held = holding("c", type="INSTANCE", p={"VCPU": 4})
    sums = {CONSUMERS: 1, "VCPU": 4}
    moved = claimed(wants("c", "red", "user", VCPU=4), c=held)
    assert used(moved, "project") == {}
    assert used(moved, "red") == {"INSTANCE": sums}
    other_user = claimed(wants("c", "project", "ann", VCPU=4), c=held)
    assert used(other_user, "project", "user") == {}
    assert used(other_user, "project", "ann") == {"INSTANCE": sums}
    typed = claimed(wants("c", "project", "user", "MIGRATION", VCPU=4), c=held)
    assert used(typed, "project") == {"MIGRATION": sums}


def test_a_consumer_that_released_its_allocations_is_not_counted() -> None:
    both = {"c": holding("c", p={"VCPU": 4}), "d": holding("d", p={"VCPU": 1})}
    d = draft(HOST, **both)
    assert release(d, "c") is None
    assert used(d, "project") == {None: {CONSUMERS: 1, "VCPU": 1}}
    assert release(d, "d") is None
    assert len(d.world.usages) == 0
    assert len(claimed(wants("c"), wants("d"), **both).world.usages) == 0


def test_a_consumer_that_holds_nothing_does_not_count() -> None:
    d = claimed(wants("c"))
    assert d.effects == []
    assert len(d.world.usages) == 0


def test_allocations_without_a_consumer_record_count_once_they_get_an_owner() -> None:
    unrecorded = Holding(None, (Allocation("p", "VCPU", 4),))
    d = draft(HOST, c=unrecorded)
    assert len(d.world.usages) == 0
    assert claim(d, [wants("c", VCPU=3)]) is None
    assert used(d) == {None: {CONSUMERS: 1, "VCPU": 3}}


def test_orphaned_allocations_count_until_they_are_replaced() -> None:
    owner = Consumer("c", "red", "ann", None, 1)
    orphaned = Holding(owner, (Allocation("p", "VCPU", 1),), (Allocation(REMOVED_PROVIDER, "VCPU", 7),))
    assert used(draft(HOST, c=orphaned)) == {None: {CONSUMERS: 1, "VCPU": 8}}
    assert used(claimed(wants("c", VCPU=3), c=orphaned)) == {None: {CONSUMERS: 1, "VCPU": 3}}


def test_clearing_a_consumer_removes_its_orphaned_allocations() -> None:
    orphaned = Holding(Consumer("c", "red", "ann", None, 1), (), (Allocation(REMOVED_PROVIDER, "VCPU", 7),))
    assert len(claimed(wants("c", "blue"), c=orphaned).world.usages) == 0


def test_a_reshape_moves_usage_only_if_it_names_another_owner() -> None:
    d = draft(HOST, provider("q"), c=holding("c", p={"VCPU": 4}))
    moved = Reshape(
        {"q": NewInventories(0, {"VCPU": Inventory(8)})},
        (Claim("c", {"q": {"VCPU": 4}}, "project", "ann", expected_generation=1),),
    )
    assert reshape(d, moved) is None
    assert used(d, "project") == used(d, "project", "ann") == {None: {CONSUMERS: 1, "VCPU": 4}}


def test_a_class_has_its_new_name_in_the_sums_too() -> None:
    d = claimed(wants("c", CUSTOM_GOLD=3, VCPU=1), wants("d", "blue", VCPU=1))
    d.add(ClassRenamed("CUSTOM_GOLD", "CUSTOM_BRASS", NOON))
    assert used(d) == {None: {CONSUMERS: 1, "CUSTOM_BRASS": 3, "VCPU": 1}}
    assert used(d, "blue") == {None: {CONSUMERS: 1, "VCPU": 1}}


def test_the_effect_of_a_claim_has_the_owner_before_and_after() -> None:
    """Followers read only the effects, so an effect needs both owners."""
    d = claimed(wants("c", "red", "ann", VCPU=1), c=holding("c", type="INSTANCE", p={"VCPU": 4}))
    (replaced,) = [effect for effect in d.effects if isinstance(effect, AllocationsReplaced)]
    assert replaced.account_before == Account("project", "user", "INSTANCE")
    assert replaced.account_after == Account("red", "ann", "INSTANCE")
