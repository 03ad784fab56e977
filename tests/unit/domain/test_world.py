# SPDX-License-Identifier: Apache-2.0

"""The maps of a world agree with each other after each change; a change that would break this fails."""

from dataclasses import replace

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World

ROOT = Provider(1, "root", "a host", "root")
CHILD = Provider(2, "child", "a device", "root", "root")
WORLD = World.of([ROOT, CHILD])


def test_a_new_provider_is_found_by_uuid_name_and_tree() -> None:
    new = Provider(9, "new", "another", "root", "child")
    world = WORLD.with_provider(new)
    assert world.provider("new") is world.provider_named("another") is new
    assert world.trees["root"] == ("root", "child", "new")
    assert world.last_provider_id == 9
    assert WORLD.provider("new") is None


def test_a_moved_and_renamed_provider_leaves_no_trace() -> None:
    world = WORLD.with_provider(replace(CHILD, name="a pool", root="child", parent=None))
    assert world.provider_named("a device") is None
    assert world.trees == World.of(world.providers.values()).trees
    assert world.uuid_by_name == World.of(world.providers.values()).uuid_by_name


def test_a_removed_provider_leaves_no_trace() -> None:
    assert WORLD.without_provider("child") == World.of([ROOT])


def test_a_provider_needs_its_root() -> None:
    with pytest.raises(AssertionError, match="root"):
        WORLD.with_provider(Provider(3, "new", "another", "missing", "missing"))


def test_two_providers_cannot_have_one_name() -> None:
    with pytest.raises(AssertionError, match="names and providers differ"):
        WORLD.with_provider(Provider(3, "new", CHILD.name, "new"))


@pytest.mark.parametrize("changed", [{"name": "other"}, {"root": "child"}, {"id": 5}])
def test_a_change_in_place_keeps_id_name_and_root(changed: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        WORLD.with_changed_provider(replace(CHILD, **changed))  # type: ignore[arg-type]
