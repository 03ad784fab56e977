# SPDX-License-Identifier: Apache-2.0

"""What a client does to providers, their inventories, their marks, and to names."""

from __future__ import annotations

from typing import Any

from tests.audit import words as w
from tests.audit.mind import Action, Mind
from tests.audit.operations import Request

UNGUARDED_AGGREGATES = 18
"""The last minor version in which aggregates have nothing to do with generations."""


def replace_inventories(mind: Mind) -> Action:
    uuid = mind.provider()
    generation = yield from mind.provider_generation(uuid)
    body = {"resource_provider_generation": generation, "inventories": mind.inventories()}
    yield Request("replace inventories", "PUT", f"/resource_providers/{uuid}/inventories", body)


def change_inventory(mind: Mind) -> Action:
    uuid, name = mind.provider(), mind.resource_class()
    generation = yield from mind.provider_generation(uuid)
    body = {"resource_provider_generation": generation, **mind.inventory()}
    yield Request("change inventory", "PUT", f"/resource_providers/{uuid}/inventories/{name}", body)


def shrink_below_use(mind: Mind) -> Action:
    uuid = mind.provider()
    found = yield Request("look at usages", "GET", f"/resource_providers/{uuid}/usages")
    if found.status == 200:
        used = [(name, amount) for name, amount in sorted(found.answer["usages"].items()) if amount > 1]
        if used:
            name, amount = mind.pick(used)
            generation = found.answer["resource_provider_generation"]
            body = {"resource_provider_generation": generation, "total": mind.dice.randint(1, amount - 1)}
            yield Request("shrink below use", "PUT", f"/resource_providers/{uuid}/inventories/{name}", body)


def add_inventory(mind: Mind) -> Action:
    body = {"resource_class": mind.resource_class(), **mind.inventory()}
    yield Request("add inventory", "POST", f"/resource_providers/{mind.provider()}/inventories", body)


def remove_inventory(mind: Mind) -> Action:
    target = f"/resource_providers/{mind.provider()}/inventories/{mind.resource_class()}"
    yield Request("remove inventory", "DELETE", target)


def clear_inventories(mind: Mind) -> Action:
    uuid = mind.pick(mind.words.extras)
    yield Request("clear inventories", "DELETE", f"/resource_providers/{uuid}/inventories")


def create_provider(mind: Mind) -> Action:
    body = {"uuid": mind.pick(mind.words.extras), "name": mind.name()}
    if mind.chance(0.5):
        body["parent_provider_uuid"] = mind.provider()
    made = yield Request("create provider", "POST", "/resource_providers", body)
    if made.status == 200 and mind.chance(0.8):
        given = {"resource_provider_generation": 0, "inventories": mind.inventories()}
        yield Request("replace inventories", "PUT", f"/resource_providers/{body['uuid']}/inventories", given)


def delete_provider(mind: Mind) -> Action:
    yield Request("delete provider", "DELETE", f"/resource_providers/{mind.pick(mind.words.extras)}")


def change_provider(mind: Mind) -> Action:
    body: dict[str, Any] = {"name": mind.name()}
    if mind.chance(0.5):
        body["parent_provider_uuid"] = mind.pick((None, mind.provider()))
    yield Request("change provider", "PUT", f"/resource_providers/{mind.pick(mind.words.extras)}", body)


def set_traits(mind: Mind) -> Action:
    uuid = mind.provider()
    generation = yield from mind.provider_generation(uuid)
    traits = mind.some(w.STANDARD_TRAITS + w.CUSTOM_TRAITS, 3)
    body = {"resource_provider_generation": generation, "traits": traits}
    yield Request("set traits", "PUT", f"/resource_providers/{uuid}/traits", body)


def clear_traits(mind: Mind) -> Action:
    yield Request("clear traits", "DELETE", f"/resource_providers/{mind.provider()}/traits")


def set_aggregates(mind: Mind) -> Action:
    uuid = mind.provider()
    generation = yield from mind.provider_generation(uuid)
    body = {"resource_provider_generation": generation, "aggregates": mind.some(mind.words.aggregates, 3)}
    yield Request("set aggregates", "PUT", f"/resource_providers/{uuid}/aggregates", body)


def set_aggregates_unguarded(mind: Mind) -> Action:
    target = f"/resource_providers/{mind.provider()}/aggregates"
    yield Request(
        "set aggregates (old)", "PUT", target, mind.some(mind.words.aggregates, 3), UNGUARDED_AGGREGATES
    )


def name_class(mind: Mind) -> Action:
    name = mind.pick(w.CUSTOM_CLASSES)
    if mind.chance(0.3):
        yield Request("create class", "POST", "/resource_classes", {"name": name})
    else:
        yield Request("ensure class", "PUT", f"/resource_classes/{name}")


def forget_class(mind: Mind) -> Action:
    yield Request("delete class", "DELETE", f"/resource_classes/{mind.pick(w.CUSTOM_CLASSES)}")


def name_trait(mind: Mind) -> Action:
    yield Request("ensure trait", "PUT", f"/traits/{mind.pick(w.CUSTOM_TRAITS)}")


def forget_trait(mind: Mind) -> Action:
    yield Request("delete trait", "DELETE", f"/traits/{mind.pick(w.CUSTOM_TRAITS)}")
