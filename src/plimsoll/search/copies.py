# SPDX-License-Identifier: Apache-2.0

"""Copies of an index with other free amounts: the same cloud if allocations were removed or added.

A copy shares everything but the free amounts with its original. Its providers still have their old `used`: the search
reads only columns. The world of the original is the world of the copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.search.index.bitset import RowSet
from plimsoll.search.index.class_columns import ClassColumn
from plimsoll.search.index.index import Index

Amounts = Mapping[str, Mapping[str, int]]
"""Amounts by resource class, by the uuid of the provider."""


def emptied(index: Index) -> Index:
    """Return a copy of the index without any usage."""
    return index.with_class_columns(
        {name: column.emptied() for name, column in index.class_columns().items()}
    )


def without(index: Index, amounts: Amounts) -> Index:
    """Return a copy in which these amounts, which are part of the usage, are free."""
    return _with_free_added(index, amounts, 1)


def claimed(index: Index, amounts: Amounts) -> Index:
    """Return a copy in which these amounts are used in addition. It is not checked whether they fit."""
    return _with_free_added(index, amounts, -1)


def with_nothing_free(index: Index, rows: RowSet) -> Index:
    """Return a copy in which these rows have nothing free, so that they can serve no resources."""
    changed: dict[str, ClassColumn] = {}
    for name, column in index.class_columns().items():
        if here := rows & column.rows:
            changed[name] = column.with_nothing_free(here)
    return index.with_class_columns(changed)


def _with_free_added(index: Index, amounts: Amounts, sign: int) -> Index:
    """Amounts of unknown providers, and of classes that a provider has no inventory of, are left out."""
    added: dict[str, dict[int, int]] = {}
    for uuid, by_class in amounts.items():
        row = index.row_or_none(uuid)
        if row is None:
            continue
        for name, amount in by_class.items():
            if index.class_column(name).rows >> row & 1:
                added.setdefault(name, {})[row] = sign * amount
    return index.with_class_columns(
        {name: index.class_column(name).with_free_added(by_row) for name, by_row in added.items()}
    )
