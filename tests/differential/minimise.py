# SPDX-License-Identifier: Apache-2.0

"""Find a short sequence of requests that still shows a difference.

The recorded requests up to the first difference are sent again to fresh servers, with parts of decreasing size left
out, as long as the last request still differs.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from tests.differential.requests import Request
from tests.differential.run import Settings, servers
from tests.differential.servers import running
from tests.differential.session import Outcome, Session


def minimise(history: Sequence[Outcome], settings: Settings, directory: Path) -> list[Request]:
    """Return the shortest list found; its last request is the one that differs."""
    end = next(number for number, outcome in enumerate(history) if not outcome.equal)
    last = history[end].request
    attempts = count()

    def differs(before: list[Request]) -> bool:
        return last_differs([*before, last], settings, directory / str(next(attempts)))

    # Reads and refused writes change nothing, so they are left out first.
    effective = [
        outcome.request
        for outcome in history[:end]
        if outcome.request.method != "GET" and 200 <= outcome.reference.status < 300
    ]
    whole = [outcome.request for outcome in history[:end]]
    remaining = effective if differs(effective) else whole
    size = max(1, len(remaining) // 2)
    while remaining:
        remaining, shortened = without_parts(remaining, size, differs)
        if size == 1 and not shortened:
            break
        size = max(1, size // 2)
    return [*remaining, last]


def without_parts(
    requests: list[Request], size: int, differs: Callable[[list[Request]], bool]
) -> tuple[list[Request], bool]:
    """Remove every part of this size that is not needed for the difference."""
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
