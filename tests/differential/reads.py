# SPDX-License-Identifier: Apache-2.0

"""Random reads of everything but allocation candidates."""

from collections.abc import Iterable

from tests.differential.candidates import aggregates_of, some_resources, traits_of
from tests.differential.conditions import on_aggregates, on_traits
from tests.differential.requests import Request, SeededRandom, read
from tests.differential.sample_data import CLASSES, SHARES, TRAITS, SampleData, similar_text
from tests.differential.state import State

PARTS = (
    ("", 0),
    ("/inventories", 0),
    ("/usages", 0),
    ("/aggregates", 1),
    ("/allocations", 0),
    ("/traits", 6),
)


def some_provider(rng: SeededRandom, data: SampleData, state: State) -> str:
    known: Iterable[str] = state.providers
    return rng.pick(known) if state.providers and rng.chance(0.93) else rng.pick(data.absent_uuids)


def provider_part(rng: SeededRandom, data: SampleData, state: State) -> Request:
    part, since = rng.pick(PARTS)
    path = f"/resource_providers/{some_provider(rng, data, state)}{part}"
    return read(f"provider{part}", path, rng.version(since))


def inventory(rng: SeededRandom, data: SampleData, state: State) -> Request:
    if state.inventories and rng.chance(0.85):
        provider, name = rng.pick(state.inventories)
    else:
        provider, name = some_provider(rng, data, state), rng.pick((*CLASSES, "NOT_A_CLASS"))
    return read("inventory", f"/resource_providers/{provider}/inventories/{name}", rng.version())


def providers(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version(rng.pick((0, 3, 4, 14, 18, 22, 24, 32, 39)))
    target = (rng.pick(state.providers),)
    query: list[tuple[str, str]] = []
    if rng.chance(0.1):
        query.append(("uuid", some_provider(rng, data, state)))
    if rng.chance(0.1) and state.providers:
        name = rng.pick(state.providers.values()).name or "nameless"
        query.append(("name", similar_text(rng, name) if rng.chance(0.4) else name))
    if version >= 3 and rng.chance(0.3):
        times = rng.number(1, 2) if version >= 24 else 1
        query += [
            ("member_of", on_aggregates(rng, data, version, aggregates_of(state, target)))
            for _ in range(times)
        ]
    if version >= 4 and rng.chance(0.4):
        query.append(("resources", some_resources(rng, state)))
    if version >= 14 and rng.chance(0.15):
        query.append(("in_tree", some_provider(rng, data, state)))
    if version >= 18 and rng.chance(0.4):
        times = rng.number(1, 2) if version >= 39 else 1
        query += [("required", on_traits(rng, version, traits_of(state, target))) for _ in range(times)]
    return read("providers", "/resource_providers", version, query)


def allocations(rng: SeededRandom, data: SampleData, state: State) -> Request:
    known: Iterable[str] = state.consumers
    consumer = rng.pick(known) if state.consumers and rng.chance(0.8) else rng.pick(data.consumers)
    return read("allocations", f"/allocations/{consumer}", rng.version())


def usages(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version(rng.pick((9, 9, 38)))
    query = [("project_id", rng.pick((*data.projects, "nobody")))]
    if rng.chance(0.4):
        query.append(("user_id", rng.pick((*data.users, "nobody"))))
    if version >= 38 and rng.chance(0.6):
        query.append(("consumer_type", rng.pick((*data.types, "all", "unknown", "UNHEARD", "allx"))))
    return read("usages", "/usages", version, query)


def traits(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version(6)
    if rng.chance(0.4):
        name = rng.pick((*TRAITS, *sorted(state.custom_traits), "CUSTOM_UNHEARD", SHARES))
        return read("trait", f"/traits/{name}", version)
    query = []
    if rng.chance(0.7):
        form = rng.pick(
            ("in:" + ",".join(rng.some(TRAITS, 3, 1)), "startswith:CUSTOM_", "startswith:HW_CPU_X86_A")
        )
        query.append(("name", form))
    if rng.chance(0.5) or not query:
        query.append(("associated", rng.pick(("true", "false", "True"))))
    return read("traits", "/traits", version, query)


def classes(rng: SeededRandom, data: SampleData, state: State) -> Request:
    version = rng.version(2)
    if rng.chance(0.4):
        return read("classes", "/resource_classes", version)
    name = rng.pick((*CLASSES, *sorted(state.custom_classes), "CUSTOM_UNHEARD"))
    return read("class", f"/resource_classes/{name}", version)


def root(rng: SeededRandom, data: SampleData, state: State) -> Request:
    request = read("root", "/", rng.version())
    return request if rng.chance(0.5) else request.with_header("x-auth-token", None)
