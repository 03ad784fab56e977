# SPDX-License-Identifier: Apache-2.0

"""Fetch a long result in chunks.

Row by row takes twice as long; the whole result at once blocks other requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Select

_CHUNK_ROWS = 5_000

Fetch = Callable[[Select[Any]], Iterator[Any]]
"""Runs a query and yields its rows: `fetch_rows` on one connection."""


def fetch_rows(conn: Connection, pause: Callable[[], object], query: Select[Any]) -> Iterator[Any]:
    """Yield all rows of a query, and call `pause` after each chunk. Consume them all before the next query."""
    result = conn.execute(query, execution_options={"stream_results": True})
    for chunk in result.partitions(_CHUNK_ROWS):
        yield from chunk
        pause()
