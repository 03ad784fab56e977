# SPDX-License-Identifier: Apache-2.0

"""The derived values of a provider."""

import pytest

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider


def test_standard_traits_are_listed_before_custom_ones() -> None:
    names = ["CUSTOM_A", "HW_B", "STORAGE_C", "CUSTOM_Z", "COMPUTE_D"]
    provider = Provider(1, "p", "p", "p", traits=frozenset(names))
    assert provider.listed_traits() == ("COMPUTE_D", "HW_B", "STORAGE_C", "CUSTOM_A", "CUSTOM_Z")


def test_a_class_without_allocations_has_no_usage() -> None:
    provider = Provider(1, "p", "p", "p", used={"VCPU": 2})
    assert (provider.used_of("VCPU"), provider.used_of("PCI")) == (2, 0)


@pytest.mark.parametrize(
    ("used", "is_empty", "is_over_full"),
    [
        ({}, True, False),
        ({"VCPU": 4}, False, False),
        ({"VCPU": 5}, False, True),
        ({"VCPU": 1, "PCI": 1}, False, True),
        ({"VCPU": 0}, True, False),
    ],
)
def test_a_provider_is_empty_within_its_capacity_or_over_full(
    used: dict[str, int], is_empty: bool, is_over_full: bool
) -> None:
    provider = Provider(1, "p", "p", "p", inventories={"VCPU": Inventory(4)}, used=used)
    assert (provider.is_empty, provider.is_over_full) == (is_empty, is_over_full)
