# SPDX-License-Identifier: Apache-2.0

"""Random writes of providers, inventories, traits, aggregates and classes; `claims` has the allocations."""

from typing import Any

from tests.differential.reads import some_provider
from tests.differential.requests import Request, SeededRandom, write
from tests.differential.sample_data import CLASSES, MAX_PROVIDERS, SHARES, TRAITS, SampleData, similar_text
from tests.differential.sample_data import inventory as random_inventory
from tests.differential.state import State

SPARE_TRAITS = ("CUSTOM_SPARE_1", "CUSTOM_SPARE_2", "CUSTOM_SPARE_3")
SPARE_CLASSES = ("CUSTOM_EXTRA_1", "CUSTOM_EXTRA_2", "CUSTOM_EXTRA_3")
LONG_NAME = 100


def generation(rng: SeededRandom, state: State, provider: str) -> int:
    """Return the current generation, or (7 %) a wrong one."""
    known = state.providers.get(provider)
    current = known.generation if known else 0
    return current if rng.chance(0.93) else max(0, current - 1) + rng.pick((0, 2, 50))


def create_provider(rng: SeededRandom, data: SampleData, state: State) -> Request:
    full = len(state.providers) >= MAX_PROVIDERS
    version = rng.version()
    body: dict[str, Any] = {"name": new_name(rng, state, "new"), "uuid": rng.uuid()}
    if full or rng.chance(0.08):
        existing = rng.pick(state.providers)
        body = rng.pick(({"name": state.providers[existing].name}, {"name": "other", "uuid": existing}))
        return write("create provider", "POST", "/resource_providers", version, body)
    if version >= 14 and rng.chance(0.7):
        body["parent_provider_uuid"] = rng.pick((*state.providers, None))
        if rng.chance(0.05):
            body["parent_provider_uuid"] = rng.pick((*data.absent_uuids, body["uuid"]))
    if rng.chance(0.05):
        body["uuid"] = rng.pick((body["uuid"].upper(), body["uuid"].replace("-", "")))
    if rng.chance(0.15):
        del body["uuid"]
    return write("create provider", "POST", "/resource_providers", version, body)


def new_name(rng: SeededRandom, state: State, prefix: str) -> str:
    """Return a free name, or (20 %) one that is similar to a taken name."""
    name = f"{prefix}-{rng.number(0, 10**9)}"
    if rng.chance(0.8):
        return name
    taken = rng.pick(state.providers.values()).name if state.providers else None
    return similar_text(rng, taken if taken and len(taken) < LONG_NAME else name)


def update_provider(rng: SeededRandom, data: SampleData, state: State) -> Request:
    provider = some_provider(rng, data, state)
    version = rng.version(rng.pick((0, 14, 37)))
    known = state.providers.get(provider)
    body: dict[str, Any] = {"name": new_name(rng, state, "renamed")}
    if known and known.name and rng.chance(0.3):
        body["name"] = similar_text(rng, known.name) if rng.chance(0.2) else known.name
    if rng.chance(0.06):
        body["name"] = rng.pick(state.providers.values()).name
    if version >= 14 and rng.chance(0.5):
        body["parent_provider_uuid"] = (
            known.parent
            if known and rng.chance(0.4)
            else rng.pick((*state.providers, None, None, None, *data.absent_uuids[:1]))
        )
    return write("update provider", "PUT", f"/resource_providers/{provider}", version, body)


def delete_provider(rng: SeededRandom, data: SampleData, state: State) -> Request:
    parents = {known.parent for known in state.providers.values()}
    busy = {provider for _, provider, _ in state.allocations}
    deletable = [provider for provider in state.providers if provider not in busy | parents]
    if len(state.providers) > 10 and deletable and rng.chance(0.6):
        provider = rng.pick(deletable)
    else:
        not_deletable = [provider for provider in state.providers if provider not in deletable]
        provider = rng.pick([*not_deletable, *data.absent_uuids[:2]])
    return write("delete provider", "DELETE", f"/resource_providers/{provider}", rng.version())


def set_inventories(rng: SeededRandom, data: SampleData, state: State) -> Request:
    provider = some_provider(rng, data, state)
    have = {name: inventory for (owner, name), inventory in state.inventories.items() if owner == provider}
    content: dict[str, Any] = {name: dict(inventory._asdict()) for name, inventory in have.items()}
    for name in rng.some(CLASSES, 2, 1):
        content[name] = random_inventory(rng, name)
    if rng.chance(0.2) and content:
        del content[rng.pick(content)]
    body = {"resource_provider_generation": generation(rng, state, provider), "inventories": content}
    path = f"/resource_providers/{provider}/inventories"
    return write("set inventories", "PUT", path, rng.version(), body)


def add_inventory(rng: SeededRandom, data: SampleData, state: State) -> Request:
    provider = some_provider(rng, data, state)
    deletable = [name for name in CLASSES if (provider, name) not in state.inventories]
    name = rng.pick(deletable) if deletable and rng.chance(0.85) else rng.pick((*CLASSES, "CUSTOM_UNHEARD"))
    body = {"resource_class": name, **random_inventory(rng, name)}
    if rng.chance(0.2):
        body["resource_provider_generation"] = generation(rng, state, provider)
    path = f"/resource_providers/{provider}/inventories"
    return write("add inventory", "POST", path, rng.version(), body)


def update_inventory(rng: SeededRandom, data: SampleData, state: State) -> Request:
    if state.inventories and rng.chance(0.92):
        provider, name = rng.pick(state.inventories)
    else:
        provider, name = some_provider(rng, data, state), rng.pick((*CLASSES, "NOT_A_CLASS"))
    body = {"resource_provider_generation": generation(rng, state, provider), **random_inventory(rng, name)}
    path = f"/resource_providers/{provider}/inventories/{name}"
    return write("update inventory", "PUT", path, rng.version(), body)


def delete_inventory(rng: SeededRandom, data: SampleData, state: State) -> Request:
    if rng.chance(0.3):
        path = f"/resource_providers/{some_provider(rng, data, state)}/inventories"
        return write("delete inventories", "DELETE", path, rng.version(5))
    used = {(provider, name) for _, provider, name in state.allocations}
    deletable = [key for key in state.inventories if key not in used]
    if deletable and rng.chance(0.75):
        provider, name = rng.pick(deletable)
    else:
        provider, name = some_provider(rng, data, state), rng.pick(CLASSES)
    return write(
        "delete inventory", "DELETE", f"/resource_providers/{provider}/inventories/{name}", rng.version()
    )


def set_traits(rng: SeededRandom, data: SampleData, state: State) -> Request:
    provider = some_provider(rng, data, state)
    path = f"/resource_providers/{provider}/traits"
    if rng.chance(0.1):
        return write("delete provider traits", "DELETE", path, rng.version(6))
    chosen = rng.some(TRAITS, 4)
    if (provider, SHARES) in state.traits and rng.chance(0.9):
        chosen.append(SHARES)
    if rng.chance(0.04):
        chosen.append(rng.pick((SHARES, "CUSTOM_UNHEARD", "not a trait")))
    body = {"resource_provider_generation": generation(rng, state, provider), "traits": chosen}
    return write("set traits", "PUT", path, rng.version(6), body)


def set_aggregates(rng: SeededRandom, data: SampleData, state: State) -> Request:
    provider = some_provider(rng, data, state)
    version = rng.version(rng.pick((1, 19)))
    chosen = rng.some(data.aggregates, 3)
    if rng.chance(0.05):
        chosen.append(rng.pick((rng.uuid().replace("-", ""), rng.pick(data.aggregates).upper())))
    body: Any = chosen
    if version >= 19:
        body = {"aggregates": chosen, "resource_provider_generation": generation(rng, state, provider)}
    return write("set aggregates", "PUT", f"/resource_providers/{provider}/aggregates", version, body)


def trait(rng: SeededRandom, data: SampleData, state: State) -> Request:
    name = rng.pick((*SPARE_TRAITS, *SPARE_TRAITS, *TRAITS, "CUSTOM_bad", "HW_NEW", "CUSTOM_" + "X" * 250))
    method = rng.pick(("PUT", "PUT", "DELETE"))
    return write(f"{method.lower()} trait", method, f"/traits/{name}", rng.version(6))


def resource_class(rng: SeededRandom, data: SampleData, state: State) -> Request:
    name = rng.pick((*SPARE_CLASSES, *SPARE_CLASSES, *CLASSES, "CUSTOM_bad", "VCPU2"))
    method = rng.pick(("PUT", "PUT", "POST", "DELETE"))
    if method == "POST":
        return write("post class", "POST", "/resource_classes", rng.version(2), {"name": name})
    if method == "DELETE":
        return write("delete class", "DELETE", f"/resource_classes/{name}", rng.version(2))
    version = rng.version(rng.pick((2, 7, 7)))
    if version >= 7:
        return write("put class", "PUT", f"/resource_classes/{name}", version)
    name = rng.pick((*SPARE_CLASSES, "VCPU", "CUSTOM_UNHEARD"))
    body = {"name": rng.pick((*SPARE_CLASSES, "CUSTOM_BW", "VCPU"))}
    return write("rename class", "PUT", f"/resource_classes/{name}", version, body)
