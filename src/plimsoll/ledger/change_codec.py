# SPDX-License-Identifier: Apache-2.0

"""Effects as text and back: the form in which the change log keeps them.

The text is JSON, a list of [kind, fields], so that people and other tools can read the history too. A kind
is the name of the effect's class in small letters. What lacks a field was written by an earlier release, for which
less was enough: it is read as the word that everything is to be read anew.
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

# Not Effect.__subclasses__(): a dataclass with slots leaves a twin of itself there until it is collected.
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
_NEEDED: Mapping[type[e.Effect], frozenset[str]] = {
    cls: frozenset(field.name for field in fields(cls) if field.default is MISSING) for cls in EFFECTS
}
_WITH_SETS: frozenset[type[e.Effect]] = frozenset(
    cls for cls in EFFECTS if any("frozenset" in str(field.type) for field in fields(cls))
)


EFFECTS_AT_ONCE = 512
LONGEST_LINE = 256 << 10
"""Bytes of one line of the change log, if it has more than one effect. Databases limit the length of a statement."""


def lines(effects: Sequence[e.Effect], pause: Callable[[], None]) -> list[str]:
    """The effects of one command as lines of the change log: one line, unless it would be too long."""
    if len(effects) <= EFFECTS_AT_ONCE:
        return _lines(effects)
    encoded: list[str] = []
    for start in range(0, len(effects), EFFECTS_AT_ONCE):
        encoded += _lines(effects[start : start + EFFECTS_AT_ONCE])
        pause()
    return encoded


def _lines(effects: Sequence[e.Effect]) -> list[str]:
    line = encode(effects)
    if len(line) <= LONGEST_LINE // 4 or len(effects) == 1 or len(line.encode()) <= LONGEST_LINE:
        return [line]
    half = len(effects) // 2
    return [*_lines(effects[:half]), *_lines(effects[half:])]


def encode(effects: Sequence[e.Effect]) -> str:
    # Most have no more than tuples with names, of which lists are made without a way through here.
    default = list if _WITH_SETS.isdisjoint(map(type, effects)) else _plain
    return orjson.dumps([(_KIND_OF[type(effect)], effect) for effect in effects], default=default).decode()


def decode(text: str) -> list[e.Effect]:
    return [_read(*entry) for entry in orjson.loads(text)]


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [*value]
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no place in the change log")


def _read(kind: str, values: Mapping[str, Any] | None = None) -> e.Effect:
    cls = _KINDS[kind]
    values = values or {}
    if not _NEEDED[cls] <= values.keys():
        return e.Reload()
    known = _FIELDS[cls]
    return cls(**{name: _READERS.get(name, _same)(value) for name, value in values.items() if name in known})


def _same(value: Any) -> Any:
    return value


def _read_inventory(value: Mapping[str, Any]) -> Inventory:
    return Inventory(**{**value, "modified_at": None})


def _read_consumer(value: str | Mapping[str, Any]) -> str | Consumer:
    return value if isinstance(value, str) else Consumer(**value)


def _read_allocations(value: Iterable[tuple[str, str, int]]) -> tuple[Allocation, ...]:
    return tuple(Allocation(*each) for each in value)


def _read_account(value: tuple[str, str, str | None] | None) -> Account | None:
    return None if value is None else Account(*value)


# A field means the same in every effect that has it.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "at": datetime.fromisoformat,
    "inventory": _read_inventory,
    "consumer": _read_consumer,
    "before": _read_allocations,
    "after": _read_allocations,
    "account_before": _read_account,
    "account_after": _read_account,
    "traits": frozenset,
    "aggregates": frozenset,
    "subtree": tuple,
}
