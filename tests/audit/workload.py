# SPDX-License-Identifier: Apache-2.0

"""Choose the next action of a client at random: mostly claims and reads, sometimes other writes."""

from __future__ import annotations

from collections.abc import Callable

from tests.audit import allocation_actions, identifiers, provider_actions
from tests.audit.client_state import Action, ClientState
from tests.audit.operations import NEWEST, Request

USAGES_WITHOUT_TYPES = 37
"""The last minor version whose usages are not grouped by consumer type."""


def read(client: ClientState) -> Action:
    uuid = f"/resource_providers/{client.provider()}"
    amount = client.pick((1, 2, 4, 8))
    kind, target, minor = client.pick(
        (
            ("read consumer", f"/allocations/{client.consumer()}", NEWEST),
            ("read consumer", f"/allocations/{client.consumer()}", NEWEST),
            ("read provider", uuid, NEWEST),
            ("read inventories", f"{uuid}/inventories", NEWEST),
            ("read inventory", f"{uuid}/inventories/{client.resource_class()}", NEWEST),
            ("read usages", f"{uuid}/usages", NEWEST),
            ("read allocations", f"{uuid}/allocations", NEWEST),
            ("read traits", f"{uuid}/traits", NEWEST),
            ("read aggregates", f"{uuid}/aggregates", NEWEST),
            ("list providers", "/resource_providers", NEWEST),
            (
                "candidates",
                f"/allocation_candidates?resources={client.pick(identifiers.STANDARD_CLASSES)}:{amount}",
                NEWEST,
            ),
            (
                "usages of project",
                f"/usages?project_id={client.pick(identifiers.PROJECTS)}",
                USAGES_WITHOUT_TYPES,
            ),
            ("read class", f"/resource_classes/{client.pick(identifiers.CUSTOM_CLASSES)}", NEWEST),
            ("read traits of all", "/traits?name=startswith:CUSTOM_", NEWEST),
        )
    )
    yield Request(kind, "GET", target, None, minor)


_WEIGHTS: dict[Callable[[ClientState], Action], int] = {
    allocation_actions.claim: 24,
    allocation_actions.claim_unguarded: 3,
    allocation_actions.clear: 7,
    allocation_actions.release: 6,
    allocation_actions.move: 8,
    allocation_actions.swap: 4,
    provider_actions.replace_inventories: 4,
    provider_actions.change_inventory: 6,
    provider_actions.shrink_below_use: 2,
    provider_actions.add_inventory: 4,
    provider_actions.remove_inventory: 1,
    provider_actions.clear_inventories: 1,
    allocation_actions.reshape: 4,
    provider_actions.create_provider: 4,
    provider_actions.delete_provider: 3,
    provider_actions.change_provider: 2,
    provider_actions.set_traits: 4,
    provider_actions.clear_traits: 1,
    provider_actions.set_aggregates: 3,
    provider_actions.set_aggregates_unguarded: 2,
    provider_actions.create_class: 3,
    provider_actions.delete_class: 2,
    provider_actions.create_trait: 2,
    provider_actions.delete_trait: 2,
    read: 30,
}
_MIX = (list(_WEIGHTS), list(_WEIGHTS.values()))


def next_action(client: ClientState) -> Action:
    action: Callable[[ClientState], Action] = client.rng.choices(*_MIX)[0]
    return action(client)
