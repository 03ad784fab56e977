# SPDX-License-Identifier: Apache-2.0

"""Encode effects for the change log and decode them.

The text is JSON, a list of [kind, fields], so that people and other tools can read the history too. Kinds are listed in KINDS, and
do not depend on the names of classes. Fields have the names of the effect's fields: a test has a line of every kind.

The format is version 1. Compatible changes need no other version: a process of an earlier release ignores fields that it does not have, and a field that
is not in the line gets its default. A line that this release cannot apply (an unknown kind or version, a field without a default is missing) is
decoded as Reload: the process reads the whole database again. A line of a later version begins with ["format", {"version": N}].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any

import orjson

from plimsoll.domain import effects as e
from plimsoll.domain.bulk_claims import BulkClaims
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider

VERSION = 1
FORMAT = "format"
"""The kind of the entry with the version of a line, at its begin. Lines of version 1 have none."""

KINDS: Mapping[str, type[e.Effect]] = {
    "provider_added": e.ProviderAdded,
    "provider_renamed": e.ProviderRenamed,
    "provider_moved": e.ProviderMoved,
    "provider_removed": e.ProviderRemoved,
    "generation_raised": e.GenerationRaised,
    "inventory_added": e.InventoryAdded,
    "inventory_changed": e.InventoryChanged,
    "inventory_removed": e.InventoryRemoved,
    "traits_set": e.TraitsSet,
    "aggregates_set": e.AggregatesSet,
    "allocations_replaced": e.AllocationsReplaced,
    "consumer_added": e.ConsumerAdded,
    "consumer_changed": e.ConsumerChanged,
    "consumer_removed": e.ConsumerRemoved,
    "class_added": e.ClassAdded,
    "class_renamed": e.ClassRenamed,
    "class_removed": e.ClassRemoved,
    "trait_added": e.TraitAdded,
    "trait_removed": e.TraitRemoved,
    "consumer_type_added": e.ConsumerTypeAdded,
    "reload": e.Reload,
}
_KIND_OF: Mapping[type[e.Effect], str] = {cls: kind for kind, cls in KINDS.items()}

_FIELDS: Mapping[type[e.Effect], frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls)) for cls in _KIND_OF
}
_REQUIRED: Mapping[type[e.Effect], frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls) if field.default is MISSING) for cls in _KIND_OF
}
_WITH_SETS: frozenset[type[e.Effect]] = frozenset((e.TraitsSet, e.AggregatesSet, e.ProviderRemoved))


_CLAIM_FIELDS: Mapping[str, frozenset[str]] = {
    kind: _REQUIRED[KINDS[kind]]
    for kind in (
        *("allocations_replaced", "generation_raised"),
        *("consumer_added", "consumer_changed", "consumer_removed"),  # these change only SQL tables
    )
}
"""The kinds of effects of claims, with their required fields."""

Entry = Sequence[Any]
"""An effect in a line of the change log: its kind and, if it has fields, a mapping of them."""

EFFECTS_PER_STEP = 512
"""Effects that are encoded before other requests may run."""
MAX_LINE_BYTES = 256 << 10
"""Size of a line of the change log with several effects, at most. Databases limit the length of a statement."""


def encode_lines(effects: Sequence[e.Effect], pause: Callable[[], None]) -> list[str]:
    """Encode the effects of one command as lines of the change log: one line, unless it would be too long."""
    if len(effects) <= EFFECTS_PER_STEP:
        return _split_lines(effects)
    encoded: list[str] = []
    for start in range(0, len(effects), EFFECTS_PER_STEP):
        encoded += _split_lines(effects[start : start + EFFECTS_PER_STEP])
        pause()
    return encoded


def _split_lines(effects: Sequence[e.Effect]) -> list[str]:
    line = encode(effects)
    if len(line) <= MAX_LINE_BYTES // 4 or len(effects) == 1 or len(line.encode()) <= MAX_LINE_BYTES:
        return [line]
    half = len(effects) // 2
    return [*_split_lines(effects[:half]), *_split_lines(effects[half:])]


def encode(effects: Sequence[e.Effect]) -> str:
    # Most effects contain only named tuples. `list` converts them in C, without a call of a Python function.
    default = list if _WITH_SETS.isdisjoint(map(type, effects)) else _to_json
    return orjson.dumps([(_KIND_OF[type(effect)], effect) for effect in effects], default=default).decode()


def decode(text: str) -> list[e.Effect]:
    return decode_entries(orjson.loads(text))


def decode_entries(entries: Sequence[Entry]) -> list[e.Effect]:
    """Return the effects of a parsed line."""
    if entries and entries[0][0] == FORMAT and entries[0][1]["version"] != VERSION:
        return [e.Reload()]
    return [_decode_effect(*entry) for entry in entries if entry[0] != FORMAT]


def parse(text: str) -> list[Entry]:
    """Return the entries of a line: [kind, fields] each."""
    entries: list[Entry] = orjson.loads(text)
    return entries


def are_claims(entries: Sequence[Entry]) -> bool:
    """True if `collect_claims` can read these entries."""
    for kind, *rest in entries:
        required = _CLAIM_FIELDS.get(kind)
        if required is None or not rest or not required <= rest[0].keys():
            return False
    return True


def collect_claims(entries: Sequence[Entry], claims: BulkClaims) -> None:
    """Add the effects of a parsed line to `claims`, without making an object of each."""
    for kind, values in entries:
        if kind == "allocations_replaced":
            before, after = values["account_before"], values["account_after"]
            claims.replace_allocations(
                values["before"],
                values["after"],
                None if before is None else tuple(before),
                None if after is None else tuple(after),
            )
        elif kind == "generation_raised":
            claims.raise_generation(values["provider"], values["generation"], values["at"])


def _to_json(value: object) -> object:
    if isinstance(value, tuple):
        return [*value]
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written to the change log")


def _decode_effect(kind: str, values: Mapping[str, Any] | None = None) -> e.Effect:
    cls = KINDS.get(kind)
    values = values or {}
    if cls is None or not _REQUIRED[cls] <= values.keys():
        return e.Reload()
    accepted = _FIELDS[cls]
    return cls(
        **{name: _DECODERS.get(name, _identity)(value) for name, value in values.items() if name in accepted}
    )


def _identity(value: Any) -> Any:
    return value


def _decode_inventory(value: Mapping[str, Any]) -> Inventory:
    return Inventory(**{**value, "modified_at": None})


def _decode_time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _decode_replaced_inventory(value: Mapping[str, Any] | None) -> Inventory | None:
    return (
        None if value is None else Inventory(**{**value, "modified_at": _decode_time(value["modified_at"])})
    )


def _decode_provider(value: Mapping[str, Any] | None) -> Provider | None:
    if value is None:
        return None
    inventories = {name: _decode_replaced_inventory(each) for name, each in value["inventories"].items()}
    sets = {name: frozenset(value[name]) for name in ("traits", "aggregates")}
    return Provider(
        **{**value, **sets, "inventories": inventories, "modified_at": _decode_time(value["modified_at"])}
    )


def _decode_names(value: Iterable[str] | None) -> frozenset[str] | None:
    return None if value is None else frozenset(value)


def _decode_consumer(value: str | Mapping[str, Any]) -> str | Consumer:
    return value if isinstance(value, str) else Consumer(**value)


def _decode_allocations(value: Iterable[tuple[str, str, int]]) -> tuple[Allocation, ...]:
    return tuple(Allocation(*each) for each in value)


def _decode_account(value: tuple[str, str, str | None] | None) -> Account | None:
    return None if value is None else Account(*value)


# A field means the same in every effect that has it.
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "at": datetime.fromisoformat,
    "inventory": _decode_inventory,
    "consumer": _decode_consumer,
    "before": _decode_allocations,
    "after": _decode_allocations,
    "account_before": _decode_account,
    "account_after": _decode_account,
    "traits": frozenset,
    "aggregates": frozenset,
    "subtree": tuple,
    "was": _decode_provider,
    "was_at": _decode_time,
    "was_inventory": _decode_replaced_inventory,
    "was_traits": _decode_names,
    "was_aggregates": _decode_names,
    "was_times": lambda value: tuple(map(_decode_time, value)),
}
