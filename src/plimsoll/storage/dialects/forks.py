# SPDX-License-Identifier: Apache-2.0

"""Databases that are open when a process forks: the child begins anew and touches nothing of its parent's."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class ForkAware(Protocol):
    def forget_parent(self) -> object:
        """In the child: begin anew. Returns what must be kept, untouched, for as long as the child lives."""


_all_open: weakref.WeakSet[ForkAware] = weakref.WeakSet()
# Closing a parent's connection could release what the parent holds, or end its session.
_left_by_parent: list[object] = []


def begin_anew_after_fork(database: ForkAware) -> None:
    _all_open.add(database)


def _after_fork() -> None:
    for database in list(_all_open):
        _left_by_parent.append(database.forget_parent())


os.register_at_fork(after_in_child=_after_fork)
