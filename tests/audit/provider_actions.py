# SPDX-License-Identifier: Apache-2.0

"""Client actions that change providers, inventories, traits, aggregates and resource classes."""

from __future__ import annotations

from typing import Any

from tests.audit import identifiers
from tests.audit.client_state import Action, ClientState
from tests.audit.operations import Request

UNGUARDED_AGGREGATES = 18
"""The last minor version in which changing aggregates neither checks nor raises the generation."""


def replace_inventories(client: ClientState) -> Action:
    uuid = client.provider()
    generation = yield from client.provider_generation(uuid)
    body = {"resource_provider_generation": generation, "inventories": client.inventories()}
    yield Request("replace inventories", "PUT", f"/resource_providers/{uuid}/inventories", body)


def change_inventory(client: ClientState) -> Action:
    uuid, name = client.provider(), client.resource_class()
    generation = yield from client.provider_generation(uuid)
    body = {"resource_provider_generation": generation, **client.inventory()}
    yield Request("change inventory", "PUT", f"/resource_providers/{uuid}/inventories/{name}", body)


def shrink_below_use(client: ClientState) -> Action:
    uuid = client.provider()
    found = yield Request("look up usages", "GET", f"/resource_providers/{uuid}/usages")
    if found.status == 200:
        used = [(name, amount) for name, amount in sorted(found.answer["usages"].items()) if amount > 1]
        if used:
            name, amount = client.pick(used)
            generation = found.answer["resource_provider_generation"]
            body = {"resource_provider_generation": generation, "total": client.rng.randint(1, amount - 1)}
            yield Request("shrink below use", "PUT", f"/resource_providers/{uuid}/inventories/{name}", body)


def add_inventory(client: ClientState) -> Action:
    body = {"resource_class": client.resource_class(), **client.inventory()}
    yield Request("add inventory", "POST", f"/resource_providers/{client.provider()}/inventories", body)


def remove_inventory(client: ClientState) -> Action:
    target = f"/resource_providers/{client.provider()}/inventories/{client.resource_class()}"
    yield Request("remove inventory", "DELETE", target)


def clear_inventories(client: ClientState) -> Action:
    uuid = client.pick(client.ids.extras)
    yield Request("clear inventories", "DELETE", f"/resource_providers/{uuid}/inventories")


def create_provider(client: ClientState) -> Action:
    body = {"uuid": client.pick(client.ids.extras), "name": client.name()}
    if client.chance(0.5):
        body["parent_provider_uuid"] = client.provider()
    created = yield Request("create provider", "POST", "/resource_providers", body)
    if created.status == 200 and client.chance(0.8):
        given = {"resource_provider_generation": 0, "inventories": client.inventories()}
        yield Request("replace inventories", "PUT", f"/resource_providers/{body['uuid']}/inventories", given)


def delete_provider(client: ClientState) -> Action:
    yield Request("delete provider", "DELETE", f"/resource_providers/{client.pick(client.ids.extras)}")


def change_provider(client: ClientState) -> Action:
    body: dict[str, Any] = {"name": client.name()}
    if client.chance(0.5):
        body["parent_provider_uuid"] = client.pick((None, client.provider()))
    yield Request("change provider", "PUT", f"/resource_providers/{client.pick(client.ids.extras)}", body)


def set_traits(client: ClientState) -> Action:
    uuid = client.provider()
    generation = yield from client.provider_generation(uuid)
    traits = client.some(identifiers.STANDARD_TRAITS + identifiers.CUSTOM_TRAITS, 3)
    body = {"resource_provider_generation": generation, "traits": traits}
    yield Request("set traits", "PUT", f"/resource_providers/{uuid}/traits", body)


def clear_traits(client: ClientState) -> Action:
    yield Request("clear traits", "DELETE", f"/resource_providers/{client.provider()}/traits")


def set_aggregates(client: ClientState) -> Action:
    uuid = client.provider()
    generation = yield from client.provider_generation(uuid)
    body = {"resource_provider_generation": generation, "aggregates": client.some(client.ids.aggregates, 3)}
    yield Request("set aggregates", "PUT", f"/resource_providers/{uuid}/aggregates", body)


def set_aggregates_unguarded(client: ClientState) -> Action:
    target = f"/resource_providers/{client.provider()}/aggregates"
    yield Request(
        "set aggregates (old)", "PUT", target, client.some(client.ids.aggregates, 3), UNGUARDED_AGGREGATES
    )


def create_class(client: ClientState) -> Action:
    name = client.pick(identifiers.CUSTOM_CLASSES)
    if client.chance(0.3):
        yield Request("create class", "POST", "/resource_classes", {"name": name})
    else:
        yield Request("ensure class", "PUT", f"/resource_classes/{name}")


def delete_class(client: ClientState) -> Action:
    yield Request("delete class", "DELETE", f"/resource_classes/{client.pick(identifiers.CUSTOM_CLASSES)}")


def create_trait(client: ClientState) -> Action:
    yield Request("ensure trait", "PUT", f"/traits/{client.pick(identifiers.CUSTOM_TRAITS)}")


def delete_trait(client: ClientState) -> Action:
    yield Request("delete trait", "DELETE", f"/traits/{client.pick(identifiers.CUSTOM_TRAITS)}")
