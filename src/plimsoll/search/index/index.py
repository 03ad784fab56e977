# SPDX-License-Identifier: Apache-2.0

"""The search index over all providers of one snapshot: one row per provider, columns per class, sets of rows.

An index is immutable, so searches need no lock. `updated` returns the next index and shares all unchanged parts.
Claims, the most frequent writes, change only the free amounts of some resource classes; `claimed` is the fast path for
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from rpds import HashTrieMap

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.values import with_fields
from plimsoll.search.index.bitset import NONE, Numbers, RowSet, numbers_of, rows_of
from plimsoll.search.index.class_columns import ClassColumn
from plimsoll.search.index.table import Table
from plimsoll.search.index.trees import Trees

ProviderChange = tuple[Provider | None, Provider | None]
"""A provider before and after; None before it was created and after it was removed."""
UsageChange = tuple[Provider, Provider]
"""A provider before and after a change of its usage only: see `changes_usage_only`."""

_MAX_VACANT = 256
"""Indexes up to this size are never compacted."""


@dataclass(slots=True, eq=False)
class Index:
    size: int = 0
    """The number of rows, including vacant rows of removed providers."""
    last_id: int = 0
    rows_in_id_order: bool = True
    """Whether rows are sorted by provider id. False after a provider was added with a lower id than the last one."""
    _row_by_uuid: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    table: Table[Provider] = field(default_factory=Table)
    uuids: Table[str] = field(default_factory=Table)
    """The uuid of each row. Claims share it, so views cache the JSON of uuids by its identity and by its chunks."""
    trees: Trees = field(default_factory=Trees)
    _class_columns: Mapping[str, ClassColumn] = field(default_factory=dict)
    """A dict, not a hash trie: there are few classes, so copies are cheap, and lookups are faster."""
    _traits: HashTrieMap[str, RowSet] = field(default_factory=HashTrieMap)
    _aggregates: HashTrieMap[str, RowSet] = field(default_factory=HashTrieMap)
    sharing: RowSet = NONE
    """The rows of sharing providers (with SHARING_TRAIT); every search uses it."""

    @classmethod
    def build(cls, providers: Iterable[Provider]) -> Index:
        """Build an index with rows in the order of ids, so that all processes number the providers alike."""
        in_order = sorted(providers, key=lambda provider: provider.id)
        return cls().updated((None, provider) for provider in in_order)

    def updated(self, changes: Iterable[ProviderChange]) -> Index:
        """Return the index after these changes, new providers in the order of ids.

        A new provider gets the row after the last one, never a vacant row: candidates are found in the order of rows,
        which must be the same in all processes, independent of the changes that each has applied.
        """
        builder = _IndexBuilder(self)
        for before, after in changes:
            builder.add(before, after)
        index = builder.index()
        assert len(index._row_by_uuid) == index.live.bit_count(), "one row in use per uuid"
        assert index.trees.size == index.size, "trees of another size"
        return index._compacted() if index.is_sparse else index

    def claimed(self, claims: Iterable[UsageChange]) -> Index:
        """Return the index after these claims, at most one per provider. Nearly all writes are claims."""
        providers: dict[int, Provider | None] = {}
        used_by_class: dict[str, dict[int, int]] = defaultdict(dict)
        for before, after in claims:
            row = self._row_by_uuid[after.uuid]
            assert changes_usage_only(before, after), "a claim changes the usage only"
            assert self.provider(row).id == after.id, "row of another provider"
            assert row not in providers, "two claims of one provider"
            providers[row] = after
            had, has = before.used, after.used
            for name in had.keys() | has.keys():
                used = has.get(name, 0)
                if used != had.get(name, 0) and name in after.inventories:
                    used_by_class[name][row] = used
        columns = {name: self._class_columns[name].with_used(used) for name, used in used_by_class.items()}
        return with_fields(
            self, table=self.table.replaced(providers), _class_columns={**self._class_columns, **columns}
        )

    @property
    def live(self) -> RowSet:
        """The rows in use."""
        return self.trees.live

    @property
    def children(self) -> RowSet:
        """The rows of providers with a parent."""
        return self.trees.children

    @property
    def is_sparse(self) -> bool:
        """Whether more rows are vacant than in use (never for a small index)."""
        return self.size > _MAX_VACANT and self.live.bit_count() * 2 < self.size

    def _compacted(self) -> Index:
        return Index.build(self.providers(numbers_of(self.live, self.size).tolist()))

    def provider(self, row: int) -> Provider:
        return self.table.value(row)

    def providers(self, rows: Sequence[int]) -> list[Provider]:
        return self.table.values(rows)

    def oldest_first(self, rows: Numbers) -> Numbers:
        """Return these ascending rows in the order of ids."""
        if self.rows_in_id_order:
            return rows
        ids = [provider.id for provider in self.providers(rows.tolist())]
        return rows[np.argsort(ids, kind="stable")]

    def row(self, uuid: str) -> int:
        return self._row_by_uuid[uuid]

    def row_or_none(self, uuid: str) -> int | None:
        return self._row_by_uuid.get(uuid)

    def rows_of_uuids(self, uuids: Iterable[str]) -> RowSet:
        return rows_of([self._row_by_uuid[uuid] for uuid in uuids])

    def class_column(self, resource_class: str) -> ClassColumn:
        return self._class_columns.get(resource_class, _EMPTY_COLUMN)

    def class_columns(self) -> Mapping[str, ClassColumn]:
        return self._class_columns

    def with_class_columns(self, changed: Mapping[str, ClassColumn]) -> Index:
        """Return a copy with other columns of some classes, with the same inventories: see `copies.py`."""
        return replace(self, _class_columns={**self._class_columns, **changed})

    def with_trait(self, trait: str) -> RowSet:
        return self._traits.get(trait, NONE)

    def in_aggregate(self, aggregate: str) -> RowSet:
        return self._aggregates.get(aggregate, NONE)

    @property
    def flat(self) -> bool:
        """Whether all providers are roots without children, and none is a sharing provider."""
        return not self.trees.children and not self.sharing

    def root_by_row(self) -> Numbers:
        """Return the row of each row's root; values of vacant rows are undefined."""
        return self.trees.roots.whole()

    def parent_by_row(self) -> Numbers:
        """Return the row of each row's parent, -1 for roots."""
        return self.trees.parents.whole()

    def roots_of(self, rows: RowSet) -> RowSet:
        """Return the roots of these rows."""
        return self.trees.roots_of(rows)

    def rows_of_trees(self, roots: RowSet) -> RowSet:
        """Return all rows of the trees with these roots, including the roots."""
        return self.trees.rows_of_trees(roots)

    def anchors(self, row: int) -> RowSet:
        """Return the roots that a sharing provider serves: of all trees with a provider in one of its aggregates."""
        reached = NONE
        for aggregate in self.provider(row).aggregates:
            reached |= self.in_aggregate(aggregate)
        return self.roots_of(reached)

    def anchors_in_other_trees(self, row: int) -> RowSet:
        """Return the roots of the other trees that a sharing provider serves."""
        return self.anchors(row) & ~(1 << self.root_by_row().item(row))


def changes_usage_only(before: Provider, after: Provider) -> bool:
    """Return whether only the usage has changed. Compares by identity: a claim shares all other fields."""
    return (
        before.inventories is after.inventories
        and before.traits is after.traits
        and before.aggregates is after.aggregates
        and before.root is after.root
        and before.parent is after.parent
        and before.id == after.id
    )


_EMPTY_COLUMN = ClassColumn()
_NO_PROVIDER = Provider(id=0, uuid="", name="", root="")


class _IndexBuilder:
    """Collects many changes to an index and applies them in bulk."""

    def __init__(self, base: Index) -> None:
        self.base = base
        self.size = base.size
        self.last_id = base.last_id
        self.rows_in_id_order = base.rows_in_id_order
        self.rows: dict[str, int | None] = {}
        self.providers: dict[int, Provider | None] = {}
        self.traits: dict[str, dict[int, bool]] = defaultdict(dict)
        self.aggregates: dict[str, dict[int, bool]] = defaultdict(dict)
        self.inventories: dict[str, dict[int, tuple[Inventory, int] | None]] = defaultdict(dict)
        self.roots: dict[int, str] = {}
        self.parents: dict[int, str | None] = {}

    def add(self, before: Provider | None, after: Provider | None) -> None:
        row = self._row(before, after)
        self.providers[row] = after
        old, new = before or _NO_PROVIDER, after or _NO_PROVIDER
        if old.traits != new.traits:
            _toggle(self.traits, row, old.traits, new.traits)
        if old.aggregates != new.aggregates:
            _toggle(self.aggregates, row, old.aggregates, new.aggregates)
        if after is None:
            self.roots.pop(row, None)
        elif before is None or before.root != after.root:
            self.roots[row] = after.root
        if before is None or old.parent != new.parent:
            self.parents[row] = new.parent
        if old.inventories is not new.inventories or old.used is not new.used:
            self._add_inventories(row, old, new)

    def _row(self, before: Provider | None, after: Provider | None) -> int:
        if before is not None:
            uuid = before.uuid
            known = self.rows.get(uuid)
            row = self.base.row(uuid) if known is None else known
            if after is None:
                self.rows[uuid] = None
            return row
        assert after is not None, "change without a provider before and after"
        row = self.rows[after.uuid] = self.size
        self.size += 1
        self.rows_in_id_order = self.rows_in_id_order and self.last_id < after.id
        self.last_id = after.id
        return row

    def _add_inventories(self, row: int, old: Provider, new: Provider) -> None:
        for name in old.inventories.keys() - new.inventories.keys():
            self.inventories[name][row] = None
        for name, inventory in new.inventories.items():
            used = new.used_of(name)
            if old.inventories.get(name) != inventory or old.used_of(name) != used:
                self.inventories[name][row] = (inventory, used)

    def index(self) -> Index:
        base = self.base
        rows = base._row_by_uuid
        for uuid, row in self.rows.items():
            rows = rows.discard(uuid) if row is None else rows.insert(uuid, row)
        new = {row: uuid for uuid, row in self.rows.items() if row is not None}
        traits = _with_changed_sets(base._traits, self.traits)
        return Index(
            size=self.size,
            last_id=self.last_id,
            rows_in_id_order=self.rows_in_id_order,
            _row_by_uuid=rows,
            table=base.table.replaced(self.providers),
            uuids=base.uuids.replaced(new) if new else base.uuids,
            trees=self._trees(rows),
            _class_columns=self._class_columns(),
            _traits=traits,
            _aggregates=_with_changed_sets(base._aggregates, self.aggregates),
            sharing=traits.get(SHARING_TRAIT, NONE),
        )

    def _trees(self, rows: HashTrieMap[str, int]) -> Trees:
        old = self.base.trees
        if not self.rows and not self.roots and not self.parents:
            return old
        live_by_row = {row: after is not None for row, after in self.providers.items()}
        child_by_row = {row: parent is not None for row, parent in self.parents.items()}
        return Trees(
            size=self.size,
            live=_with_members_changed(old.live, live_by_row),
            children=_with_members_changed(old.children, child_by_row),
            roots=old.roots.replaced({row: rows[root] for row, root in self.roots.items()}),
            parents=old.parents.replaced(
                {row: -1 if parent is None else rows[parent] for row, parent in self.parents.items()}
            ),
        )

    def _class_columns(self) -> dict[str, ClassColumn]:
        class_columns = dict(self.base._class_columns)
        for name, inventories in self.inventories.items():
            class_columns[name] = class_columns.get(name, _EMPTY_COLUMN).replaced(inventories)
            if not class_columns[name].rows:
                del class_columns[name]
        return class_columns


def _toggle(sets: dict[str, dict[int, bool]], row: int, old: frozenset[str], new: frozenset[str]) -> None:
    for name in old - new:
        sets[name][row] = False
    for name in new - old:
        sets[name][row] = True


def _with_members_changed(rows: RowSet, changes: Mapping[int, bool]) -> RowSet:
    if not changes:
        return rows
    removed = rows_of([row for row, is_member in changes.items() if not is_member])
    return (rows & ~removed) | rows_of([row for row, is_member in changes.items() if is_member])


def _with_changed_sets(
    sets: HashTrieMap[str, RowSet], changes: Mapping[str, Mapping[int, bool]]
) -> HashTrieMap[str, RowSet]:
    for name, changed_rows in changes.items():
        rows = _with_members_changed(sets.get(name, NONE), changed_rows)
        sets = sets.insert(name, rows) if rows else sets.discard(name)
    return sets
