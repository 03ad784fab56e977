# SPDX-License-Identifier: Apache-2.0

"""Resource classes and traits, and the traits and aggregates of providers."""

from plimsoll.domain.refusals import (
    ResourceClassExists,
    ResourceClassInUse,
    ResourceClassMissing,
    ResourceClassStandard,
    StaleProviderGeneration,
    TraitInUse,
    TraitsMissing,
    TraitStandard,
)
from plimsoll.domain.rules import classes_and_traits, traits_and_aggregates
from tests.support.worlds import draft, provider


def test_custom_classes_are_numbered_after_the_last_one() -> None:
    d = draft()
    assert classes_and_traits.add_class(d, "CUSTOM_NEW") is None
    assert d.world.classes.by_name["CUSTOM_NEW"].id == 10002


def test_a_class_exists_once() -> None:
    assert classes_and_traits.add_class(draft(), "CUSTOM_GOLD") == ResourceClassExists("CUSTOM_GOLD")


def test_a_renamed_class_keeps_its_inventories_and_use() -> None:
    d = draft(provider("p", inventories={"CUSTOM_GOLD": 4}, used={"CUSTOM_GOLD": 1}))
    assert classes_and_traits.rename_class(d, "CUSTOM_GOLD", "CUSTOM_SILVER") is None
    assert d.world.providers["p"].inventories.keys() == {"CUSTOM_SILVER"}
    assert d.world.providers["p"].used == {"CUSTOM_SILVER": 1}
    assert d.world.classes.by_name["CUSTOM_SILVER"].id == 10000


def test_standard_classes_cannot_be_renamed_or_removed() -> None:
    assert classes_and_traits.rename_class(draft(), "VCPU", "CUSTOM_CPU") == ResourceClassStandard("VCPU")
    assert classes_and_traits.remove_class(draft(), "VCPU") == ResourceClassStandard("VCPU")


def test_a_class_cannot_get_the_name_of_another() -> None:
    assert classes_and_traits.rename_class(draft(), "CUSTOM_GOLD", "CUSTOM_TIN") == ResourceClassExists(
        "CUSTOM_TIN"
    )


def test_a_class_in_use_cannot_be_removed() -> None:
    d = draft(provider("p", inventories={"CUSTOM_GOLD": 4}))
    assert classes_and_traits.remove_class(d, "CUSTOM_GOLD") == ResourceClassInUse("CUSTOM_GOLD")
    assert classes_and_traits.remove_class(d, "CUSTOM_TIN") is None
    assert classes_and_traits.remove_class(d, "CUSTOM_TIN") == ResourceClassMissing("CUSTOM_TIN")


def test_traits_in_use_and_standard_traits_cannot_be_removed() -> None:
    d = draft(provider("p", traits=frozenset({"CUSTOM_FAST"})))
    assert classes_and_traits.remove_trait(d, "CUSTOM_FAST") == TraitInUse("CUSTOM_FAST")
    assert classes_and_traits.remove_trait(d, "HW_CPU_X86_AVX") == TraitStandard("HW_CPU_X86_AVX")
    assert classes_and_traits.remove_trait(d, "CUSTOM_NONE") == TraitsMissing(("CUSTOM_NONE",))


def test_setting_the_same_traits_again_does_not_raise_the_generation() -> None:
    d = draft(provider("p", traits=frozenset({"CUSTOM_FAST"})))
    assert traits_and_aggregates.set_traits(d, "p", ["CUSTOM_FAST"], 0) is None
    assert not d.effects
    assert traits_and_aggregates.set_traits(d, "p", ["HW_CPU_X86_AVX"], 0) is None
    assert d.world.providers["p"].generation == 1


def test_unknown_traits_and_stale_generations_are_refused() -> None:
    d = draft(provider("p"))
    assert traits_and_aggregates.set_traits(d, "p", ["CUSTOM_B", "CUSTOM_A"], 0) == TraitsMissing(
        ("CUSTOM_A", "CUSTOM_B")
    )
    assert traits_and_aggregates.set_traits(d, "p", [], 3) == StaleProviderGeneration("p", 0, 3)
    assert traits_and_aggregates.set_aggregates(d, "p", [], 3) == StaleProviderGeneration("p", 0, 3)


def test_aggregates_of_old_clients_do_not_raise_the_generation() -> None:
    d = draft(provider("p"))
    assert traits_and_aggregates.set_aggregates(d, "p", ["a"], None) is None
    assert d.world.providers["p"].generation == 0
    assert traits_and_aggregates.set_aggregates(d, "p", ["a"], 0) is None
    assert d.world.providers["p"].generation == 1
