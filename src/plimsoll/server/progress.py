# SPDX-License-Identifier: Apache-2.0

"""The requests that a worker processes, in shared memory, so that the supervisor can read them if the worker hangs."""

from __future__ import annotations

import mmap

SLOTS = 64
SLOT_BYTES = 256
SIZE = SLOTS * SLOT_BYTES


class RequestsInProgress:
    """A table in shared memory: one slot per request, which begins with a zero byte while it is free."""

    def __init__(self, descriptor: int = -1) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)
        self._free = list(range(SLOTS - 1, -1, -1))

    def begin(self, line: bytes) -> int | None:
        """Record a request and return its slot. None if the table is full: it helps to find hangs and need not be complete."""
        if not self._free:
            return None
        slot = self._free.pop()
        text = line[: SLOT_BYTES - 1] + b"\0"
        start = slot * SLOT_BYTES
        self._memory[start : start + len(text)] = text
        return slot

    def end(self, slot: int | None) -> None:
        if slot is not None:
            self._memory[slot * SLOT_BYTES] = 0
            self._free.append(slot)

    def lines(self) -> list[str]:
        """Return the requests in progress, in any process that maps this memory."""
        slots = (self._memory[at : at + SLOT_BYTES] for at in range(0, SIZE, SLOT_BYTES))
        return [slot.partition(b"\0")[0].decode("latin-1").rstrip() for slot in slots if slot[0]]
