# SPDX-License-Identifier: Apache-2.0

"""The one pen of a ledger: whoever holds it writes, for all who wait for it.

When it is laid down, all who wait look whether theirs is done: they leave at once, and only one who still has
something to write takes it. (With a lock, the ones who are done queue behind the next scribe's commit.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _never() -> bool:
    return False


class Pen:
    def __init__(self) -> None:
        self._laid_down = threading.Condition()
        self._held = False

    @contextmanager
    def held(self, unless: Callable[[], bool] = _never) -> Iterator[bool]:
        """Waits for the pen, holds it, and says True; or says False, without it, as soon as `unless` is true."""
        with self._laid_down:
            self._laid_down.wait_for(lambda: unless() or not self._held)
            mine = not unless()
            self._held = self._held or mine
        try:
            yield mine
        finally:
            if mine:
                with self._laid_down:
                    self._held = False
                    self._laid_down.notify_all()
