# SPDX-License-Identifier: Apache-2.0

"""A cache of the answers to queries about one snapshot.

Schedulers that work side by side ask for the same flavour at the same time, and hosts that fit it are looked for once.
Nothing has to be invalidated: the answers belong to the snapshot, and the next write makes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

MOST_BYTES = 4 << 20
"""Of all answers about one snapshot, with their queries. What comes later is not kept."""
LONGEST_QUERY = 4096
"""Characters of a query that is kept. Longer ones are not repeated by schedulers."""
_BESIDES = 512
"""What an entry takes besides them."""

Work = Callable[[], tuple[bytes, bool]]
"""Returns an answer and whether it may be kept: a search that ran out of time could have found more."""


class ResponseCache:
    """For any thread: two requests at the same time may both make an answer, and get the same."""

    __slots__ = ("_by_query", "_room")

    def __init__(self) -> None:
        self._by_query: dict[tuple[Hashable, str], bytes] = {}
        self._room = MOST_BYTES

    def to(self, query: str, terms: Hashable, work: Work) -> bytes:
        """The query and its terms are all that the answer depends on, but for the snapshot."""
        answer = self._by_query.get((terms, query))
        if answer is None:
            answer, may_be_kept = work()
            taken = len(answer) + len(query) + _BESIDES
            if may_be_kept and taken <= self._room and len(query) <= LONGEST_QUERY:
                self._room -= taken
                self._by_query[terms, query] = answer
        return answer
