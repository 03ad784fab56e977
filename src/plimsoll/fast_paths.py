# SPDX-License-Identifier: Apache-2.0

"""The fast paths: code that exists only for speed, beside a plain implementation of the same.

Each can be switched off by its name in `[plimsoll]disable_fast_paths`. docs/internals/fast-paths.md describes them, with
the measured gain of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class FastPaths:
    """The fast paths in use. A field is False if that one is switched off and the plain implementation is used."""

    mysql_protocol: bool = True
    """Parse results of MariaDB and MySQL ourselves (`storage/fast/mysql_protocol.py`), instead of by PyMySQL's cursors."""
    multi_statement: bool = True
    """Send the statements of a transaction and its commit as one message, instead of one after the other."""
    optimistic_commit: bool = True
    """Decide a batch without locking the head first, while no other process writes."""
    bulk_follow: bool = True
    """Apply the claims of other processes together, instead of one after the other."""
    shared_writer: bool = True
    """Let one worker of a service process the requests of all its workers that write."""
    response_cache: bool = True
    """Cache the responses of searches, for each snapshot."""
    allocation_cache: bool = True
    """Cache the allocations of single providers."""
    policy_cache: bool = True
    """Cache the decisions of the policy."""
    vectorised: bool = True
    """Combine the providers of many trees at once, instead of tree by tree."""
    shape_memo: bool = True
    """Combine once for all trees of one shape."""
    json_cache: bool = True
    """Cache the JSON of each provider."""
    request_log: bool = True
    """Format the log line of a request with cached values, and make its record without the call site."""

    @classmethod
    def without(cls, names: Iterable[str]) -> Self:
        """Return all fast paths except these."""
        return cls(**dict.fromkeys(names, False))


ALL = FastPaths()
NONE = FastPaths.without(field.name for field in fields(FastPaths))
NAMES = tuple(field.name for field in fields(FastPaths))
