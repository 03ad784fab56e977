# SPDX-License-Identifier: Apache-2.0

"""Hashable dataclasses have only hashable fields."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from rpds import HashTrieMap

import plimsoll


def dataclasses_of_ours() -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for module in pkgutil.walk_packages(plimsoll.__path__, "plimsoll."):
        if ".migrations" in module.name or module.name.endswith("__main__"):
            continue
        for cls in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(cls) and is_dataclass(cls) and cls.__module__ == module.name:
                found[f"{module.name}.{cls.__qualname__}"] = cls
    return found


def parts(hint: Any) -> Iterator[Any]:
    """Yield the types whose hashes the hash of such a value depends on."""
    origin = typing.get_origin(hint) or hint
    yield origin
    if origin not in (type, Callable):
        for part in typing.get_args(hint):
            yield from parts(part)


def cannot_be_hashed(hint: Any) -> bool:
    return any(
        inspect.isclass(part) and (part.__hash__ is None or part in (Mapping, HashTrieMap))
        for part in parts(hint)
    )


CLASSES = dataclasses_of_ours()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_that_can_be_hashed_has_no_field_that_cannot(name: str) -> None:
    cls = CLASSES[name]
    made_by: Any = cls.__hash__
    if made_by in (None, object.__hash__):
        return
    try:
        hints = typing.get_type_hints(cls)
    except NameError:  # a name that only type checkers import
        pytest.skip("its types are not imported at run time")
    hashed = [field.name for field in fields(cls) if (field.compare if field.hash is None else field.hash)]
    assert [field for field in hashed if cannot_be_hashed(hints[field])] == []
