# SPDX-License-Identifier: Apache-2.0

"""Random reads of everything but allocation candidates."""

from collections.abc import Iterable

from tests.differential.candidates import aggregates_of, some_resources, traits_of
from tests.differential.conditions import on_aggregates, on_traits
from tests.differential.requests import Dice, Request, read
from tests.differential.state import State
from tests.differential.words import CLASSES, SHARES, TRAITS, Words, kin

PARTS = (
    ("", 0),
    ("/inventories", 0),
    ("/usages", 0),
    ("/aggregates", 1),
    ("/allocations", 0),
    ("/traits", 6),
)


def some_provider(dice: Dice, vocabulary: Words, state: State) -> str:
    known: Iterable[str] = state.providers
    return dice.pick(known) if state.providers and dice.chance(0.93) else dice.pick(vocabulary.strangers)


def provider_part(dice: Dice, vocabulary: Words, state: State) -> Request:
    part, since = dice.pick(PARTS)
    path = f"/resource_providers/{some_provider(dice, vocabulary, state)}{part}"
    return read(f"provider{part}", path, dice.version(since))


def inventory(dice: Dice, vocabulary: Words, state: State) -> Request:
    if state.inventories and dice.chance(0.85):
        provider, name = dice.pick(state.inventories)
    else:
        provider, name = some_provider(dice, vocabulary, state), dice.pick((*CLASSES, "NOT_A_CLASS"))
    return read("inventory", f"/resource_providers/{provider}/inventories/{name}", dice.version())


def providers(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(dice.pick((0, 3, 4, 14, 18, 22, 24, 32, 39)))
    meant = (dice.pick(state.providers),)
    query: list[tuple[str, str]] = []
    if dice.chance(0.1):
        query.append(("uuid", some_provider(dice, vocabulary, state)))
    if dice.chance(0.1) and state.providers:
        name = dice.pick(state.providers.values()).name or "nameless"
        query.append(("name", kin(dice, name) if dice.chance(0.4) else name))
    if version >= 3 and dice.chance(0.3):
        times = dice.number(1, 2) if version >= 24 else 1
        query += [
            ("member_of", on_aggregates(dice, vocabulary, version, aggregates_of(state, meant)))
            for _ in range(times)
        ]
    if version >= 4 and dice.chance(0.4):
        query.append(("resources", some_resources(dice, state)))
    if version >= 14 and dice.chance(0.15):
        query.append(("in_tree", some_provider(dice, vocabulary, state)))
    if version >= 18 and dice.chance(0.4):
        times = dice.number(1, 2) if version >= 39 else 1
        query += [("required", on_traits(dice, version, traits_of(state, meant))) for _ in range(times)]
    return read("providers", "/resource_providers", version, query)


def allocations(dice: Dice, vocabulary: Words, state: State) -> Request:
    known: Iterable[str] = state.consumers
    consumer = dice.pick(known) if state.consumers and dice.chance(0.8) else dice.pick(vocabulary.consumers)
    return read("allocations", f"/allocations/{consumer}", dice.version())


def usages(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(dice.pick((9, 9, 38)))
    query = [("project_id", dice.pick((*vocabulary.projects, "nobody")))]
    if dice.chance(0.4):
        query.append(("user_id", dice.pick((*vocabulary.users, "nobody"))))
    if version >= 38 and dice.chance(0.6):
        query.append(("consumer_type", dice.pick((*vocabulary.types, "all", "unknown", "UNHEARD", "allx"))))
    return read("usages", "/usages", version, query)


def traits(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(6)
    if dice.chance(0.4):
        name = dice.pick((*TRAITS, *sorted(state.custom_traits), "CUSTOM_UNHEARD", SHARES))
        return read("trait", f"/traits/{name}", version)
    query = []
    if dice.chance(0.7):
        form = dice.pick(
            ("in:" + ",".join(dice.some(TRAITS, 3, 1)), "startswith:CUSTOM_", "startswith:HW_CPU_X86_A")
        )
        query.append(("name", form))
    if dice.chance(0.5) or not query:
        query.append(("associated", dice.pick(("true", "false", "True"))))
    return read("traits", "/traits", version, query)


def classes(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(2)
    if dice.chance(0.4):
        return read("classes", "/resource_classes", version)
    name = dice.pick((*CLASSES, *sorted(state.custom_classes), "CUSTOM_UNHEARD"))
    return read("class", f"/resource_classes/{name}", version)


def root(dice: Dice, vocabulary: Words, state: State) -> Request:
    request = read("root", "/", dice.version())
    return request if dice.chance(0.5) else request.with_header("x-auth-token", None)
