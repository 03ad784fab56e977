# SPDX-License-Identifier: Apache-2.0

"""Finds a short sequence of requests that still shows a difference.

The recorded requests up to the first difference are sent again to fresh servers, without ever larger or
smaller parts of them, as long as the last request still differs.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from tests.differential.requests import Request
from tests.differential.run import Settings, servers
from tests.differential.servers import running
from tests.differential.session import Outcome, Session


def minimise(history: Sequence[Outcome], settings: Settings, directory: Path) -> list[Request]:
    """The shortest list found; its last request is the one that differs."""
    end = next(number for number, outcome in enumerate(history) if not outcome.equal)
    last = history[end].request
    attempts = count()

    def differs(before: list[Request]) -> bool:
        return last_differs([*before, last], settings, directory / str(next(attempts)))

    # Reads and refused writes change nothing, so they can hardly matter.
    effective = [
        outcome.request
        for outcome in history[:end]
        if outcome.request.method != "GET" and 200 <= outcome.reference.status < 300
    ]
    whole = [outcome.request for outcome in history[:end]]
    kept = effective if differs(effective) else whole
    size = max(1, len(kept) // 2)
    while kept:
        kept, shortened = without_parts(kept, size, differs)
        if size == 1 and not shortened:
            break
        size = max(1, size // 2)
    return [*kept, last]


def without_parts(
    requests: list[Request], size: int, differs: Callable[[list[Request]], bool]
) -> tuple[list[Request], bool]:
    """Leave out every part of this size that is not needed."""
    start, shortened = 0, False
    while start < len(requests):
        shorter = requests[:start] + requests[start + size :]
        if differs(shorter):
            requests, shortened = shorter, True
        else:
            start += size
    return requests, shortened


def last_differs(requests: Sequence[Request], settings: Settings, directory: Path) -> bool:
    reference, ours = servers(settings, directory / "run")
    with running(reference, ours):
        session = Session(reference, ours)
        outcomes = [session.run(request) for request in requests]
        return not outcomes[-1].equal
