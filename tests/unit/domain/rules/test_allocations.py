# SPDX-License-Identifier: Apache-2.0

"""Claims: which are granted, which are refused, and the effects of a granted claim."""

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
from plimsoll.domain.rules.allocations import ANY_GENERATION, Claim, ExpectedGeneration, claim, release
from tests.support.worlds import draft, holding, provider


def wants(
    consumer: str = "c",
    expected_generation: ExpectedGeneration = ANY_GENERATION,
    **by_provider: dict[str, int],
) -> Claim:
    return Claim(consumer, by_provider, "project", "user", expected_generation=expected_generation)


def test_a_claim_that_fits_is_granted_and_counted() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 4})]) is None
    assert d.world.providers["p"].used == {"VCPU": 4}
    assert d.world.providers["p"].generation == 1


def test_one_unit_too_many_is_refused_and_changes_nothing() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 1}))
    assert claim(d, [wants(p={"VCPU": 4})]) == CapacityExceeded("p", "p", "VCPU", asked=4, used=1, capacity=4)
    assert not d.effects


def test_a_claim_may_reuse_the_amounts_that_the_consumer_already_holds() -> None:
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


def test_usage_of_an_over_allocated_provider_may_be_lowered() -> None:
    d = draft(provider("p", inventories={"VCPU": 2}, used={"VCPU": 8}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 3})]) is None


def test_usage_of_an_over_allocated_provider_may_not_be_raised() -> None:
    d = draft(provider("p", inventories={"VCPU": 2}, used={"VCPU": 8}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 5})]) == CapacityExceeded("p", "p", "VCPU", asked=5, used=4, capacity=2)


def test_an_amount_that_is_no_multiple_of_the_step_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": Inventory(total=100, step_size=3)}))
    assert claim(d, [wants(p={"VCPU": 4})]) == UnitsViolated("p", "VCPU", 4, 1, MAX_INT, 3)


def test_a_claim_on_a_class_without_inventory_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}), provider("q", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"VCPU": 1}, q={"DISK_GB": 1})]) == NoSuchInventory(("q",), ("DISK_GB",))


def test_the_refusal_for_a_provider_without_inventories_has_all_classes() -> None:
    d = draft(provider("p"))
    assert claim(d, [wants(p={"VCPU": 1, "DISK_GB": 1})]) == NoSuchInventory(("p",), ("VCPU", "DISK_GB"))


def test_an_unknown_class_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(p={"CUSTOM_NONE": 1})]) == ResourceClassMissing("CUSTOM_NONE")


def test_an_unknown_provider_is_refused() -> None:
    assert claim(draft(), [wants(p={"VCPU": 1})]) == ClaimOnMissingProvider("p")


def test_a_stale_consumer_generation_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}), c=holding("c", generation=3))
    assert claim(d, [wants(expected_generation=2, p={"VCPU": 1})]) == StaleConsumerGeneration("c", 3, 2)


def test_a_generation_for_a_missing_consumer_is_refused() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}))
    assert claim(d, [wants(expected_generation=0, p={"VCPU": 1})]) == StaleConsumerGeneration("c", None, 0)


def test_clearing_removes_the_consumer_and_raises_the_generation_of_its_providers() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert claim(d, [wants(expected_generation=1)]) is None
    assert ConsumerRemoved("c") in d.effects
    assert d.world.providers["p"].used == {}
    assert d.world.providers["p"].generation == 1


def test_clearing_a_missing_consumer_has_no_effect() -> None:
    d = draft()
    assert claim(d, [wants(expected_generation=None)]) is None
    assert d.effects == []


def test_a_provider_that_only_loses_allocations_keeps_its_generation() -> None:
    d = draft(
        provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}),
        provider("q", inventories={"VCPU": 4}),
        c=holding("c", p={"VCPU": 4}),
    )
    assert claim(d, [wants(q={"VCPU": 4})]) is None
    assert d.world.providers["p"].generation == 0
    assert d.world.providers["q"].generation == 1


def test_releasing_raises_no_provider_generation() -> None:
    d = draft(provider("p", inventories={"VCPU": 4}, used={"VCPU": 4}), c=holding("c", p={"VCPU": 4}))
    assert release(d, "c") is None
    assert d.world.providers["p"].used == {}
    assert d.world.providers["p"].generation == 0


def test_releasing_a_consumer_without_allocations_is_refused() -> None:
    assert release(draft(c=holding("c")), "c") == AllocationsMissing("c")
