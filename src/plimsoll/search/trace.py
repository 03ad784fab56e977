# SPDX-License-Identifier: Apache-2.0

"""The trace of a search: the sets of rows before and after each step.

A trace is passed to `find_candidates`. The search then runs the same steps, but does not end at the first group without
providers, so that every step of every group reports. Without a trace nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from plimsoll.domain.values import unhashable_value, value
from plimsoll.search.filters import FilterReport
from plimsoll.search.index.bitset import RowSet
from plimsoll.search.request import Group


@value
class AnchorReport:
    """The anchors before and after a step that intersects them or removes trees that are too small."""

    reason: str
    group: str | None
    """The suffix of the group; None for a step that concerns all groups."""
    before: RowSet
    after: RowSet


@unhashable_value
class SlotReport:
    """The filters of one slot, in the order in which they were applied."""

    resources: Mapping[str, int]
    is_whole_group: bool
    """Whether one provider serves the whole group; otherwise this is one class of the group without suffix."""
    filters: list[FilterReport]


@dataclass(slots=True, eq=False)
class GroupReport:
    """The steps of one group."""

    group: Group
    early_end: str | None = None
    """The reason for which the search ends here without a trace, before any filter is applied."""
    slots: list[SlotReport] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Trace:
    """The steps of one search. The search appends to it."""

    roots: list[FilterReport] = field(default_factory=list)
    """The conditions on the root."""
    groups: list[GroupReport] = field(default_factory=list)
    anchors: list[AnchorReport] = field(default_factory=list)
    _slots_by_group: dict[Hashable, list[SlotReport]] = field(default_factory=dict)

    def add_group(self, group: Group, key: Hashable) -> GroupReport:
        """Begin the report of a group. Groups with an equal key have the same slots, which report once."""
        report = GroupReport(group, slots=self._slots_by_group.setdefault(key, []))
        self.groups.append(report)
        return report

    def intersected(self, reason: str, group: str | None, before: RowSet, after: RowSet) -> None:
        self.anchors.append(AnchorReport(reason, group, before, after))
