# SPDX-License-Identifier: Apache-2.0

"""Encode effects for the change log and decode them.

The text is JSON, a list of [kind, fields], so that people and other tools can read the history too. A kind
is the name of the effect's class in snake case. An effect that lacks a field was written by an earlier release: it is
decoded as Reload, because it cannot be applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any

import orjson

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import Inventory

# Not Effect.__subclasses__(): a dataclass with slots leaves its first class object there until garbage collection.
EFFECTS: tuple[type[e.Effect], ...] = tuple(
    cls
    for cls in vars(e).values()
    if isinstance(cls, type)
    and issubclass(cls, e.Effect)
    and cls is not e.Effect
    and not cls.__name__.startswith("_")
)
_KINDS: Mapping[str, type[e.Effect]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower(): cls for cls in EFFECTS
}
_KIND_OF: Mapping[type[e.Effect], str] = {cls: kind for kind, cls in _KINDS.items()}

_FIELDS: Mapping[type[e.Effect], frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls)) for cls in EFFECTS
}
_REQUIRED: Mapping[type[e.Effect], frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls) if field.default is MISSING) for cls in EFFECTS
}
_WITH_SETS: frozenset[type[e.Effect]] = frozenset(
    cls for cls in EFFECTS if any("frozenset" in str(field.type) for field in fields(cls))
)


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
    return [_decode_effect(*entry) for entry in orjson.loads(text)]


def _to_json(value: object) -> object:
    if isinstance(value, tuple):
        return [*value]
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written to the change log")


def _decode_effect(kind: str, values: Mapping[str, Any] | None = None) -> e.Effect:
    cls = _KINDS[kind]
    values = values or {}
    if not _REQUIRED[cls] <= values.keys():
        return e.Reload()
    accepted = _FIELDS[cls]
    return cls(
        **{name: _DECODERS.get(name, _identity)(value) for name, value in values.items() if name in accepted}
    )


def _identity(value: Any) -> Any:
    return value


def _decode_inventory(value: Mapping[str, Any]) -> Inventory:
    return Inventory(**{**value, "modified_at": None})


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
}
