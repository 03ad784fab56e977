# SPDX-License-Identifier: Apache-2.0

"""Random writes of everything but allocations: providers, inventories, traits, aggregates, classes."""

from typing import Any

from tests.differential.reads import some_provider
from tests.differential.requests import Dice, Request, write
from tests.differential.state import State
from tests.differential.words import CLASSES, MOST_PROVIDERS, SHARES, TRAITS, Words, kin
from tests.differential.words import inventory as random_inventory

SPARE_TRAITS = ("CUSTOM_SPARE_1", "CUSTOM_SPARE_2", "CUSTOM_SPARE_3")
SPARE_CLASSES = ("CUSTOM_EXTRA_1", "CUSTOM_EXTRA_2", "CUSTOM_EXTRA_3")
LONG_NAME = 100


def generation(dice: Dice, state: State, provider: str) -> int:
    """The current generation; now and then a stale one."""
    known = state.providers.get(provider)
    current = known.generation if known else 0
    return current if dice.chance(0.93) else max(0, current - 1) + dice.pick((0, 2, 50))


def create_provider(dice: Dice, vocabulary: Words, state: State) -> Request:
    full = len(state.providers) >= MOST_PROVIDERS
    version = dice.version()
    body: dict[str, Any] = {"name": new_name(dice, state, "new"), "uuid": dice.uuid()}
    if full or dice.chance(0.08):
        twin = dice.pick(state.providers)
        body = dice.pick(({"name": state.providers[twin].name}, {"name": "other", "uuid": twin}))
        return write("create provider", "POST", "/resource_providers", version, body)
    if version >= 14 and dice.chance(0.7):
        body["parent_provider_uuid"] = dice.pick((*state.providers, None))
        if dice.chance(0.05):
            body["parent_provider_uuid"] = dice.pick((*vocabulary.strangers, body["uuid"]))
    if dice.chance(0.05):
        body["uuid"] = dice.pick((body["uuid"].upper(), body["uuid"].replace("-", "")))
    if dice.chance(0.15):
        del body["uuid"]
    return write("create provider", "POST", "/resource_providers", version, body)


def new_name(dice: Dice, state: State, mark: str) -> str:
    """A name that is not taken; now and then one that is nearly taken."""
    name = f"{mark}-{dice.number(0, 10**9)}"
    if dice.chance(0.8):
        return name
    taken = dice.pick(state.providers.values()).name if state.providers else None
    return kin(dice, taken if taken and len(taken) < LONG_NAME else name)


def update_provider(dice: Dice, vocabulary: Words, state: State) -> Request:
    provider = some_provider(dice, vocabulary, state)
    version = dice.version(dice.pick((0, 14, 37)))
    known = state.providers.get(provider)
    body: dict[str, Any] = {"name": new_name(dice, state, "renamed")}
    if known and known.name and dice.chance(0.3):
        body["name"] = kin(dice, known.name) if dice.chance(0.2) else known.name
    if dice.chance(0.06):
        body["name"] = dice.pick(state.providers.values()).name
    if version >= 14 and dice.chance(0.5):
        body["parent_provider_uuid"] = (
            known.parent
            if known and dice.chance(0.4)
            else dice.pick((*state.providers, None, None, None, *vocabulary.strangers[:1]))
        )
    return write("update provider", "PUT", f"/resource_providers/{provider}", version, body)


def delete_provider(dice: Dice, vocabulary: Words, state: State) -> Request:
    parents = {known.parent for known in state.providers.values()}
    busy = {provider for _, provider, _ in state.allocations}
    free = [provider for provider in state.providers if provider not in busy | parents]
    if len(state.providers) > 10 and free and dice.chance(0.6):
        provider = dice.pick(free)
    else:
        bound = [provider for provider in state.providers if provider not in free]
        provider = dice.pick([*bound, *vocabulary.strangers[:2]])
    return write("delete provider", "DELETE", f"/resource_providers/{provider}", dice.version())


def set_inventories(dice: Dice, vocabulary: Words, state: State) -> Request:
    provider = some_provider(dice, vocabulary, state)
    have = {name: kept for (owner, name), kept in state.inventories.items() if owner == provider}
    content: dict[str, Any] = {name: dict(kept._asdict()) for name, kept in have.items()}
    for name in dice.some(CLASSES, 2, 1):
        content[name] = random_inventory(dice, name)
    if dice.chance(0.2) and content:
        del content[dice.pick(content)]
    body = {"resource_provider_generation": generation(dice, state, provider), "inventories": content}
    path = f"/resource_providers/{provider}/inventories"
    return write("set inventories", "PUT", path, dice.version(), body)


def add_inventory(dice: Dice, vocabulary: Words, state: State) -> Request:
    provider = some_provider(dice, vocabulary, state)
    free = [name for name in CLASSES if (provider, name) not in state.inventories]
    name = dice.pick(free) if free and dice.chance(0.85) else dice.pick((*CLASSES, "CUSTOM_UNHEARD"))
    body = {"resource_class": name, **random_inventory(dice, name)}
    if dice.chance(0.2):
        body["resource_provider_generation"] = generation(dice, state, provider)
    path = f"/resource_providers/{provider}/inventories"
    return write("add inventory", "POST", path, dice.version(), body)


def update_inventory(dice: Dice, vocabulary: Words, state: State) -> Request:
    if state.inventories and dice.chance(0.92):
        provider, name = dice.pick(state.inventories)
    else:
        provider, name = some_provider(dice, vocabulary, state), dice.pick((*CLASSES, "NOT_A_CLASS"))
    body = {"resource_provider_generation": generation(dice, state, provider), **random_inventory(dice, name)}
    path = f"/resource_providers/{provider}/inventories/{name}"
    return write("update inventory", "PUT", path, dice.version(), body)


def delete_inventory(dice: Dice, vocabulary: Words, state: State) -> Request:
    if dice.chance(0.3):
        path = f"/resource_providers/{some_provider(dice, vocabulary, state)}/inventories"
        return write("delete inventories", "DELETE", path, dice.version(5))
    used = {(provider, name) for _, provider, name in state.allocations}
    free = [key for key in state.inventories if key not in used]
    if free and dice.chance(0.75):
        provider, name = dice.pick(free)
    else:
        provider, name = some_provider(dice, vocabulary, state), dice.pick(CLASSES)
    return write(
        "delete inventory", "DELETE", f"/resource_providers/{provider}/inventories/{name}", dice.version()
    )


def set_traits(dice: Dice, vocabulary: Words, state: State) -> Request:
    provider = some_provider(dice, vocabulary, state)
    path = f"/resource_providers/{provider}/traits"
    if dice.chance(0.1):
        return write("delete provider traits", "DELETE", path, dice.version(6))
    chosen = dice.some(TRAITS, 4)
    if (provider, SHARES) in state.traits and dice.chance(0.9):
        chosen.append(SHARES)
    if dice.chance(0.04):
        chosen.append(dice.pick((SHARES, "CUSTOM_UNHEARD", "not a trait")))
    body = {"resource_provider_generation": generation(dice, state, provider), "traits": chosen}
    return write("set traits", "PUT", path, dice.version(6), body)


def set_aggregates(dice: Dice, vocabulary: Words, state: State) -> Request:
    provider = some_provider(dice, vocabulary, state)
    version = dice.version(dice.pick((1, 19)))
    chosen = dice.some(vocabulary.aggregates, 3)
    if dice.chance(0.05):
        chosen.append(dice.pick((dice.uuid().replace("-", ""), dice.pick(vocabulary.aggregates).upper())))
    body: Any = chosen
    if version >= 19:
        body = {"aggregates": chosen, "resource_provider_generation": generation(dice, state, provider)}
    return write("set aggregates", "PUT", f"/resource_providers/{provider}/aggregates", version, body)


def trait(dice: Dice, vocabulary: Words, state: State) -> Request:
    name = dice.pick((*SPARE_TRAITS, *SPARE_TRAITS, *TRAITS, "CUSTOM_bad", "HW_NEW", "CUSTOM_" + "X" * 250))
    method = dice.pick(("PUT", "PUT", "DELETE"))
    return write(f"{method.lower()} trait", method, f"/traits/{name}", dice.version(6))


def resource_class(dice: Dice, vocabulary: Words, state: State) -> Request:
    name = dice.pick((*SPARE_CLASSES, *SPARE_CLASSES, *CLASSES, "CUSTOM_bad", "VCPU2"))
    method = dice.pick(("PUT", "PUT", "POST", "DELETE"))
    if method == "POST":
        return write("post class", "POST", "/resource_classes", dice.version(2), {"name": name})
    if method == "DELETE":
        return write("delete class", "DELETE", f"/resource_classes/{name}", dice.version(2))
    version = dice.version(dice.pick((2, 7, 7)))
    if version >= 7:
        return write("put class", "PUT", f"/resource_classes/{name}", version)
    name = dice.pick((*SPARE_CLASSES, "VCPU", "CUSTOM_UNHEARD"))
    body = {"name": dice.pick((*SPARE_CLASSES, "CUSTOM_BW", "VCPU"))}
    return write("rename class", "PUT", f"/resource_classes/{name}", version, body)
