# SPDX-License-Identifier: Apache-2.0

"""Wait for a condition that other processes or threads make true, with a timeout."""

import time
from collections.abc import Callable

TIMEOUT_SECONDS = 60
"""Long enough for a busy machine. Only failing tests take this long."""


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
