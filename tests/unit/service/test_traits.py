# SPDX-License-Identifier: Apache-2.0

"""Prefixes of trait names, with the wildcards of SQL's LIKE."""

import pytest

from plimsoll.service.traits import like_pattern


@pytest.mark.parametrize(
    ("prefix", "name", "matches"),
    [
        ("HW_", "HW_CPU_X86_VMX", True),
        ("hw", "HW_CPU_X86_VMX", True),
        ("HW_CPU", "CUSTOM_HW_CPU", False),
        ("%CPU", "CUSTOM_HW_CPU", True),
        ("_W_CPU", "HW_CPU_X86_VMX", True),
        ("HW%X86%MX", "HW_CPU_X86_VMX", True),
        ("HW%VMX%X86", "HW_CPU_X86_VMX", False),
        ("%", "HW_CPU_X86_VMX", True),
        ("%_____%_____%____", "HW_CPU_X86_VMX", True),
        ("%_____%_____%_____", "HW_CPU_X86_VMX", False),
        ("", "HW_CPU_X86_VMX", True),
        (".", "HW_CPU_X86_VMX", False),
        ("A" * 300, "A" * 255, False),
    ],
)
def test_a_prefix_matches_as_in_sql(prefix: str, name: str, matches: bool) -> None:
    assert bool(like_pattern(prefix).match(name)) is matches


def test_a_prefix_of_many_wildcards_is_matched_in_the_time_of_its_length() -> None:
    """It would run for years if parts were tried at each place where they could be."""
    assert not like_pattern("%A" * 120 + "Z").match("CUSTOM_" + "A" * 200)
