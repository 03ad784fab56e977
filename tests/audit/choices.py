# SPDX-License-Identifier: Apache-2.0

"""What a client does next, at random: mostly claims and reads, and now and then everything else."""

from __future__ import annotations

from collections.abc import Callable

from tests.audit import changing, claiming
from tests.audit import words as w
from tests.audit.mind import Action, Mind
from tests.audit.operations import NEWEST, Request

USAGES_WITHOUT_TYPES = 37
"""The last minor version whose usages are not told apart by the type of consumers."""


def read(mind: Mind) -> Action:
    uuid = f"/resource_providers/{mind.provider()}"
    amount = mind.pick((1, 2, 4, 8))
    kind, target, minor = mind.pick(
        (
            ("read consumer", f"/allocations/{mind.consumer()}", NEWEST),
            ("read consumer", f"/allocations/{mind.consumer()}", NEWEST),
            ("read provider", uuid, NEWEST),
            ("read inventories", f"{uuid}/inventories", NEWEST),
            ("read inventory", f"{uuid}/inventories/{mind.resource_class()}", NEWEST),
            ("read usages", f"{uuid}/usages", NEWEST),
            ("read holders", f"{uuid}/allocations", NEWEST),
            ("read traits", f"{uuid}/traits", NEWEST),
            ("read aggregates", f"{uuid}/aggregates", NEWEST),
            ("list providers", "/resource_providers", NEWEST),
            (
                "candidates",
                f"/allocation_candidates?resources={mind.pick(w.STANDARD_CLASSES)}:{amount}",
                NEWEST,
            ),
            ("usages of project", f"/usages?project_id={mind.pick(w.PROJECTS)}", USAGES_WITHOUT_TYPES),
            ("read class", f"/resource_classes/{mind.pick(w.CUSTOM_CLASSES)}", NEWEST),
            ("read traits of all", "/traits?name=startswith:CUSTOM_", NEWEST),
        )
    )
    yield Request(kind, "GET", target, None, minor)


_WEIGHTS: dict[Callable[[Mind], Action], int] = {
    claiming.claim: 24,
    claiming.claim_unguarded: 3,
    claiming.clear: 7,
    claiming.release: 6,
    claiming.move: 8,
    claiming.hand_over: 4,
    changing.replace_inventories: 4,
    changing.change_inventory: 6,
    changing.shrink_below_use: 2,
    changing.add_inventory: 4,
    changing.remove_inventory: 1,
    changing.clear_inventories: 1,
    claiming.reshape: 4,
    changing.create_provider: 4,
    changing.delete_provider: 3,
    changing.change_provider: 2,
    changing.set_traits: 4,
    changing.clear_traits: 1,
    changing.set_aggregates: 3,
    changing.set_aggregates_unguarded: 2,
    changing.name_class: 3,
    changing.forget_class: 2,
    changing.name_trait: 2,
    changing.forget_trait: 2,
    read: 30,
}
_MIX = (list(_WEIGHTS), list(_WEIGHTS.values()))


def next_action(mind: Mind) -> Action:
    act: Callable[[Mind], Action] = mind.dice.choices(*_MIX)[0]
    return act(mind)
