# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.service.names import find_provider

UUID = "abcdef00-0000-4000-8000-000000000001"
OTHER = "abcdef00-0000-4000-8000-000000000002"
WORLD = World.of([Provider(1, UUID, "host1", UUID), Provider(2, OTHER, UUID.upper(), OTHER)])


@pytest.mark.parametrize("text", [UUID, UUID.replace("-", ""), f"{{{UUID}}}", f"urn:uuid:{UUID}", "host1"])
def test_a_provider_is_found_by_any_spelling_of_its_uuid_and_by_its_name(text: str) -> None:
    found = find_provider(WORLD, text)
    assert found is not None
    assert found.uuid == UUID


def test_a_uuid_is_preferred_to_a_name() -> None:
    found = find_provider(WORLD, UUID.upper())
    assert found is not None
    assert found.uuid == UUID


@pytest.mark.parametrize("text", ["", "host", "HOST1", "host1 ", "x" * 10_000, "0" * 32])
def test_no_provider_is_found_by_another_text(text: str) -> None:
    assert find_provider(WORLD, text) is None
