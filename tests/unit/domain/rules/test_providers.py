# SPDX-License-Identifier: Apache-2.0

"""Provider trees: one root, no loop."""

from plimsoll.domain.draft import Draft
from plimsoll.domain.refusals import (
    ParentIsSelf,
    ParentMissing,
    ProviderHasChildren,
    ProviderInUse,
    ProviderMissing,
    ProviderNameEmpty,
    ProviderNameTaken,
    ProviderUuidTaken,
    ReparentingNotAllowed,
    TreeWouldLoop,
    UnparentingNotAllowed,
)
from plimsoll.domain.rules.providers import KEEP_PARENT, add_provider, change_provider, remove_provider
from tests.support.worlds import draft, provider


def a_tree() -> Draft:
    return draft(
        provider("host"),
        provider("numa", parent="host"),
        provider("nic", parent="numa", root="host"),
        provider("other"),
    )


def test_a_new_provider_is_its_own_root() -> None:
    d = draft()
    assert add_provider(d, "p", "name", None) is None
    assert d.world.providers["p"].root == "p"
    assert d.world.trees["p"] == ("p",)


def test_a_child_has_the_root_of_its_parent() -> None:
    d = a_tree()
    assert add_provider(d, "vf", "vf", "nic") is None
    assert d.world.providers["vf"].root == "host"


def test_a_provider_cannot_be_its_own_parent() -> None:
    assert add_provider(draft(), "p", "p", "p") == ParentIsSelf("p")


def test_a_parent_must_exist() -> None:
    assert add_provider(draft(), "p", "p", "q") == ParentMissing("q")
    assert change_provider(a_tree(), "other", "other", "q", reparenting=True) == ParentMissing("q")


def test_a_name_is_required_and_unique() -> None:
    assert add_provider(draft(), "p", "", None) == ProviderNameEmpty()
    assert add_provider(a_tree(), "p", "host", None) == ProviderNameTaken("host")
    assert change_provider(a_tree(), "other", "host", KEEP_PARENT, reparenting=False) == ProviderNameTaken(
        "host"
    )


def test_a_uuid_is_unique() -> None:
    assert add_provider(a_tree(), "host", "new", None) == ProviderUuidTaken("host")


def test_a_renamed_provider_is_found_by_its_new_name_alone() -> None:
    d = a_tree()
    assert change_provider(d, "host", "castle", KEEP_PARENT, reparenting=False) is None
    assert d.world.provider_named("host") is None
    renamed = d.world.provider_named("castle")
    assert renamed is not None
    assert renamed.uuid == "host"


def test_a_root_may_get_a_parent_and_its_tree_moves_with_it() -> None:
    d = a_tree()
    assert change_provider(d, "host", "host", "other", reparenting=False) is None
    assert {d.world.providers[uuid].root for uuid in ("host", "numa", "nic", "other")} == {"other"}
    assert sorted(d.world.trees["other"]) == ["host", "nic", "numa", "other"]
    assert d.world.trees.get("host") is None


def test_another_parent_is_refused_unless_reparenting_is_allowed() -> None:
    assert change_provider(a_tree(), "numa", "numa", "other", reparenting=False) == ReparentingNotAllowed(
        "numa"
    )
    assert change_provider(a_tree(), "numa", "numa", None, reparenting=False) == UnparentingNotAllowed("numa")


def test_an_unparented_provider_becomes_a_root_with_all_below_it() -> None:
    d = a_tree()
    assert change_provider(d, "numa", "numa", None, reparenting=True) is None
    assert d.world.providers["numa"].parent is None
    assert d.world.providers["nic"].root == "numa"
    assert d.world.trees["host"] == ("host",)


def test_a_loop_is_refused() -> None:
    assert change_provider(a_tree(), "host", "host", "nic", reparenting=True) == TreeWouldLoop("host", "nic")
    assert change_provider(a_tree(), "host", "host", "host", reparenting=True) == TreeWouldLoop(
        "host", "host"
    )


def test_the_same_parent_again_is_no_change() -> None:
    d = a_tree()
    assert change_provider(d, "numa", "numa", "host", reparenting=False) is None
    assert not d.effects


def test_a_parent_cannot_be_removed() -> None:
    assert remove_provider(a_tree(), "numa") == ProviderHasChildren("numa")


def test_a_provider_in_use_cannot_be_removed() -> None:
    d = draft(provider("p", inventories={"VCPU": 1}, used={"VCPU": 1}))
    assert remove_provider(d, "p") == ProviderInUse("p")


def test_a_removed_provider_is_gone_from_name_and_tree() -> None:
    d = a_tree()
    assert remove_provider(d, "nic") is None
    assert d.world.provider("nic") is None
    assert d.world.provider_named("nic") is None
    assert "nic" not in d.world.trees["host"]
    assert remove_provider(d, "nic") == ProviderMissing("nic")
