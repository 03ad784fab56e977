# SPDX-License-Identifier: Apache-2.0

"""Reset open databases after a fork: the child opens its own connections and leaves those of its parent untouched."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class ForkAware(Protocol):
    def reset_in_child(self) -> object:
        """Replace all connections, in the child. Return the old ones, which must not be closed in the child."""


_open_databases: weakref.WeakSet[ForkAware] = weakref.WeakSet()
# Never closed: that could release locks of the parent, or end its session.
_parent_connections: list[object] = []


def reset_after_fork(database: ForkAware) -> None:
    """Have a database reset in each child of this process."""
    _open_databases.add(database)


def _after_fork() -> None:
    for database in list(_open_databases):
        _parent_connections.append(database.reset_in_child())


os.register_at_fork(after_in_child=_after_fork)
