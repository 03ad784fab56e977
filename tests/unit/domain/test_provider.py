# SPDX-License-Identifier: Apache-2.0

"""The derived values of a provider."""

from plimsoll.domain.provider import Provider


def test_standard_traits_are_listed_before_custom_ones() -> None:
    names = ["CUSTOM_A", "HW_B", "STORAGE_C", "CUSTOM_Z", "COMPUTE_D"]
    provider = Provider(1, "p", "p", "p", traits=frozenset(names))
    assert provider.listed_traits() == ("COMPUTE_D", "HW_B", "STORAGE_C", "CUSTOM_A", "CUSTOM_Z")


def test_a_class_without_allocations_has_no_usage() -> None:
    provider = Provider(1, "p", "p", "p", used={"VCPU": 2})
    assert (provider.used_of("VCPU"), provider.used_of("PCI")) == (2, 0)
