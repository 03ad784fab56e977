# SPDX-License-Identifier: Apache-2.0

"""For what others do in their own time: asked again and again, and given up on."""

import time
from collections.abc import Callable

PATIENCE = 60
"""Seconds. What fails takes as long as this; what works does not, however busy the machine."""


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
