# SPDX-License-Identifier: Apache-2.0

"""All providers of one moment, arranged for searching: a row each, columns per resource class, sets of rows.

An index never changes, so that searches need no lock. `updated` makes the next one and shares all that stayed
as it was. After claims that is everything but what is free of each resource class claimed: these come all the time, and
`claimed` looks at nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rpds import HashTrieMap

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.search.index.bitset import (
    NONE,
    Numbers,
    RowSet,
    numbers_of,
    rows_of,
)
from plimsoll.search.index.class_columns import ClassColumn
from plimsoll.search.index.labels import Labels, Texts
from plimsoll.search.index.provider_table import Table
from plimsoll.search.index.trees import Trees

Change = tuple[Provider | None, Provider | None]
"""A provider before and after; None before it was created and after it was removed."""
Claim = tuple[Provider, Provider]
"""A change after which a provider is what it was, but for what is used of it: see `is_claim`."""

_FEW = 256
"""So many rows may be vacant without any harm."""


@dataclass(slots=True, eq=False)
class Index:
    size: int = 0
    """Rows from 0 up to this are or were in use; those of removed providers stay vacant."""
    last_id: int = 0
    by_id: bool = True
    """Whether rows are in the order of ids, as they are unless somebody gives ids out of turn."""
    _row_by_uuid: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    table: Table = field(default_factory=Table)
    _labels: Labels = field(default_factory=Labels)
    trees: Trees = field(default_factory=Trees)
    _stocks: Mapping[str, ClassColumn] = field(default_factory=dict)
    """There are few classes, however many providers: a dictionary is copied fast enough, and looked up faster."""
    _traits: HashTrieMap[str, RowSet] = field(default_factory=HashTrieMap)
    _aggregates: HashTrieMap[str, RowSet] = field(default_factory=HashTrieMap)
    sharing: RowSet = NONE
    """Who has the trait that says so: asked for in every search."""
    _anchors: dict[int, RowSet] = field(default_factory=dict)
    """What `anchors` found so far. Shared by all indexes with the same trees and aggregates."""

    @classmethod
    def build(cls, providers: Iterable[Provider]) -> Index:
        """Rows in the order of ids, so that all processes number the providers of a database alike."""
        in_order = sorted(providers, key=lambda provider: provider.id)
        return cls().updated((None, provider) for provider in in_order)

    def updated(self, changes: Iterable[Change]) -> Index:
        """The index after these changes, which come in the order of ids.

        A new provider gets the row after the last one, never that of a removed one: rows are visited in order,
        and the order must be the same in all processes, however they came to be where they are.
        """
        draft = _IndexBuilder(self)
        for before, after in changes:
            draft.take(before, after)
        index = draft.index()
        return index._without_gaps() if index.is_sparse else index

    def claimed(self, claims: Iterable[Claim]) -> Index:
        """The index after these claims, one for each provider: nearly all that is ever written."""
        providers: dict[int, Provider | None] = {}
        used_by_class: dict[str, dict[int, int]] = defaultdict(dict)
        for before, after in claims:
            row = self._row_by_uuid[after.uuid]
            providers[row] = after
            had, has = before.used, after.used
            for name in had.keys() | has.keys():
                used = has.get(name, 0)
                if used != had.get(name, 0) and name in after.inventories:
                    used_by_class[name][row] = used
        return Index(
            self.size,
            self.last_id,
            self.by_id,
            self._row_by_uuid,
            self.table.replaced(providers),
            self._labels,
            self.trees,
            {**self._stocks, **{name: self._stocks[name].used(used) for name, used in used_by_class.items()}},
            self._traits,
            self._aggregates,
            self.sharing,
            self._anchors,
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
        """Whether more rows are vacant than in use; a few do no harm."""
        return self.size > _FEW and self.live.bit_count() * 2 < self.size

    def _without_gaps(self) -> Index:
        return Index.build(self.providers(numbers_of(self.live, self.size).tolist()))

    def provider(self, row: int) -> Provider:
        return self.table.provider(row)

    def providers(self, rows: Sequence[int]) -> list[Provider]:
        return self.table.providers(rows)

    def oldest_first(self, rows: Numbers) -> Numbers:
        """These rows, which ascend, in the order of ids."""
        if self.by_id:
            return rows
        ids = [provider.id for provider in self.providers(rows.tolist())]
        return rows[np.argsort(ids, kind="stable")]

    def labels(self) -> Texts:
        """The uuid of each row, as answers have it. What it says of rows not in use means nothing."""
        return self._labels.whole()

    def row(self, uuid: str) -> int:
        return self._row_by_uuid[uuid]

    def rows_of_uuids(self, uuids: Iterable[str]) -> RowSet:
        return rows_of([self._row_by_uuid[uuid] for uuid in uuids])

    def stock(self, resource_class: str) -> ClassColumn:
        return self._stocks.get(resource_class, _NO_STOCK)

    def with_trait(self, trait: str) -> RowSet:
        return self._traits.get(trait, NONE)

    def in_aggregate(self, aggregate: str) -> RowSet:
        return self._aggregates.get(aggregate, NONE)

    @property
    def flat(self) -> bool:
        """Whether every provider stands alone: no trees, and nobody shares."""
        return not self.trees.children and not self.sharing

    def root_by_row(self) -> Numbers:
        """The row of the root of each row's tree. What it says of rows not in use means nothing."""
        return self.trees.roots.whole()

    def parent_by_row(self) -> Numbers:
        """The row of each row's parent, -1 for roots."""
        return self.trees.parents.whole()

    def roots_of(self, rows: RowSet) -> RowSet:
        """The roots of the trees that these rows belong to."""
        return self.trees.roots_of(rows)

    def below(self, roots: RowSet) -> RowSet:
        """All rows of the trees with these roots, the roots among them."""
        return self.trees.below(roots)

    def anchors(self, row: int) -> RowSet:
        """The roots of all trees that a sharing provider serves: one of theirs is in an aggregate of its own."""
        anchors = self._anchors.get(row)
        if anchors is None:
            reached = NONE
            for aggregate in self.provider(row).aggregates:
                reached |= self.in_aggregate(aggregate)
            anchors = self._anchors[row] = self.roots_of(reached)
        return anchors


def is_claim(before: Provider, after: Provider) -> bool:
    """Whether nothing has changed that an index knows of, but for what is used. What a claim leaves is never copied."""
    return (
        before.inventories is after.inventories
        and before.traits is after.traits
        and before.aggregates is after.aggregates
        and before.root is after.root
        and before.parent is after.parent
        and before.id == after.id
    )


_NO_STOCK = ClassColumn()
_NOBODY = Provider(id=0, uuid="", name="", root="")


class _IndexBuilder:
    """What the next index has to have differently, gathered over many changes and then applied at once."""

    def __init__(self, base: Index) -> None:
        self.base = base
        self.size = base.size
        self.last_id = base.last_id
        self.by_id = base.by_id
        self.rows: dict[str, int | None] = {}
        self.providers: dict[int, Provider | None] = {}
        self.traits: dict[str, dict[int, bool]] = defaultdict(dict)
        self.aggregates: dict[str, dict[int, bool]] = defaultdict(dict)
        self.inventories: dict[str, dict[int, tuple[Inventory, int] | None]] = defaultdict(dict)
        self.roots: dict[int, str] = {}
        self.parents: dict[int, str | None] = {}

    def take(self, before: Provider | None, after: Provider | None) -> None:
        row = self._row(before, after)
        self.providers[row] = after
        old, new = before or _NOBODY, after or _NOBODY
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
            self._take_inventories(row, old, new)

    def _row(self, before: Provider | None, after: Provider | None) -> int:
        if before is not None:
            uuid = before.uuid
            known = self.rows.get(uuid)
            row = self.base.row(uuid) if known is None else known
            if after is None:
                self.rows[uuid] = None
            return row
        assert after is not None, "a change from nothing to nothing"
        row = self.rows[after.uuid] = self.size
        self.size += 1
        self.by_id = self.by_id and self.last_id < after.id
        self.last_id = after.id
        return row

    def _take_inventories(self, row: int, old: Provider, new: Provider) -> None:
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
        traits = _members(base._traits, self.traits)
        moved = bool(self.roots or self.aggregates)
        return Index(
            size=self.size,
            last_id=self.last_id,
            by_id=self.by_id,
            _row_by_uuid=rows,
            table=base.table.replaced(self.providers),
            _labels=base._labels.replaced(new) if new else base._labels,
            trees=self._trees(rows),
            _stocks=self._stocks(),
            _traits=traits,
            _aggregates=_members(base._aggregates, self.aggregates),
            sharing=traits.get(SHARING_TRAIT, NONE),
            _anchors={} if moved else base._anchors,
        )

    def _trees(self, rows: HashTrieMap[str, int]) -> Trees:
        old = self.base.trees
        if not self.rows and not self.roots and not self.parents:
            return old
        alive = {row: after is not None for row, after in self.providers.items()}
        with_parent = {row: parent is not None for row, parent in self.parents.items()}
        return Trees(
            size=self.size,
            live=_switched(old.live, alive),
            children=_switched(old.children, with_parent),
            roots=old.roots.replaced({row: rows[root] for row, root in self.roots.items()}),
            parents=old.parents.replaced(
                {row: -1 if parent is None else rows[parent] for row, parent in self.parents.items()}
            ),
        )

    def _stocks(self) -> dict[str, ClassColumn]:
        stocks = dict(self.base._stocks)
        for name, inventories in self.inventories.items():
            stocks[name] = stocks.get(name, _NO_STOCK).replaced(inventories)
            if not stocks[name].rows:
                del stocks[name]
        return stocks


def _toggle(sets: dict[str, dict[int, bool]], row: int, old: frozenset[str], new: frozenset[str]) -> None:
    for name in old - new:
        sets[name][row] = False
    for name in new - old:
        sets[name][row] = True


def _switched(rows: RowSet, switches: Mapping[int, bool]) -> RowSet:
    if not switches:
        return rows
    off = rows_of([row for row, on in switches.items() if not on])
    return (rows & ~off) | rows_of([row for row, on in switches.items() if on])


def _members(
    sets: HashTrieMap[str, RowSet], switches: Mapping[str, Mapping[int, bool]]
) -> HashTrieMap[str, RowSet]:
    for name, switched in switches.items():
        rows = _switched(sets.get(name, NONE), switched)
        sets = sets.insert(name, rows) if rows else sets.discard(name)
    return sets
