# SPDX-License-Identifier: Apache-2.0

"""Claims: what is granted, what is refused, and what a granted claim leaves behind."""

from plimsoll.domain.effects import ConsumerRemoved
from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.domain.refusals import (
    AllocationsMissing,
    CapacityExceeded,
    ClaimOnMissingProvider,
    NoSuchInventory,
    ResourceClassMissing,
    StaleConsumerGeneration,
    UnitsViolated,
)
from plimsoll.domain.rules.allocations import (
    UNGUARDED,
    Claim,
    Guard,
    claim,
    release,
)
from tests.support.worlds import draft, holding, provider


def wants(consumer: str = "c", guard: Guard = UNGUARDED, **by_provider: dict[str, int]) -> Claim:
    return Claim(consumer, by_provider, "project", "user", guard=guard)


def test_a_claim_that_fits_is_granted_and_counted() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 4})]) is None
    assert d.world.providers["p"].used == {"VCPU": 4}
    assert d.world.providers["p"].generation == 1


def test_one_unit_too_many_is_refused_and_changes_nothing() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 1}))
    assert claim(d, [wants(p={"VCPU": 4})]) == CapacityExceeded("p", "p", "VCPU", asked=4, used=1, capacity=4)
    assert not d.effects


def test_what_the_consumer_held_before_makes_room_for_what_it_wants() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 3})]) is None
    assert d.world.providers["p"].used == {"VCPU": 3}


def test_two_consumers_that_fit_alone_but_not_together_are_both_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    both = [wants("c", p={"VCPU": 3}), wants("d", p={"VCPU": 3})]
    assert claim(d, both) == CapacityExceeded("p", "p", "VCPU", asked=3, used=3, capacity=4)


def test_resources_move_between_consumers_in_one_step() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants("c"), wants("d", p={"VCPU": 4})]) is None
    assert d.world.providers["p"].used == {"VCPU": 4}
    assert d.world.providers["p"].generation == 1


def test_an_over_full_provider_may_be_relieved() -> None:
    d = draft(provider("p", inventories={"VCPU": 2}, used={"VCPU": 8}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 3})]) is None


def test_an_over_full_provider_is_never_loaded_further() -> None:
    d = draft(provider("p", inventories={"VCPU": 2}, used={"VCPU": 8}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 5})]) == CapacityExceeded("p", "p", "VCPU", asked=5, used=4, capacity=2)


def test_an_amount_between_the_units_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": Inventory(total=100, step_size=3)}))
    assert claim(d, [wants(p={"VCPU": 4})]) == UnitsViolated("p", "VCPU", 4, 1, MAX_INT, 3)


def test_a_claim_on_what_the_provider_does_not_offer_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}), provider("q", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 1}, q={"DISK_GB": 1})]) == NoSuchInventory(("q",), ("DISK_GB",))


def test_a_provider_that_offers_none_of_the_classes_is_named_with_all_of_them() -> None:
    d = draft(provider("p"))
    assert claim(d, [wants(p={"VCPU": 1, "DISK_GB": 1})]) == NoSuchInventory(("p",), ("VCPU", "DISK_GB"))


def test_an_unknown_class_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"CUSTOM_NONE": 1})]) == ResourceClassMissing("CUSTOM_NONE")


def test_an_unknown_provider_is_refused() -> None:
    assert claim(draft(), [wants(p={"VCPU": 1})]) == ClaimOnMissingProvider("p")


def test_a_stale_consumer_generation_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}), c=holding("c", generation=3))
    assert claim(d, [wants(guard=2, p={"VCPU": 1})]) == StaleConsumerGeneration("c", 3, 2)


def test_a_generation_for_a_consumer_that_is_not_there_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(guard=0, p={"VCPU": 1})]) == StaleConsumerGeneration("c", None, 0)


def test_clearing_forgets_the_consumer_and_raises_the_generation_of_its_providers() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(guard=1)]) is None
    assert ConsumerRemoved("c") in d.effects
    assert d.world.providers["p"].used == {}
    assert d.world.providers["p"].generation == 1


def test_clearing_a_consumer_that_is_not_there_leaves_nothing() -> None:
    d = draft()
    assert claim(d, [wants(guard=None)]) is None
    assert d.effects == []


def test_a_provider_that_is_only_left_keeps_its_generation() -> None:
    d = draft(
        provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}),
        provider("q", inventories={"VCPU": 4}),
        c=holding("c", p={"VCPU": 4}),
    )
    assert claim(d, [wants(q={"VCPU": 4})]) is None
    assert d.world.providers["p"].generation == 0
    assert d.world.providers["q"].generation == 1


def test_releasing_leaves_all_generations_as_they_are() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert release(d, "c") is None
    assert d.world.providers["p"].used == {}
    assert d.world.providers["p"].generation == 0


def test_releasing_what_is_not_held_is_refused() -> None:
    assert release(draft(c=holding("c")), "c") == AllocationsMissing("c")
