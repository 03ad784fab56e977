# SPDX-License-Identifier: Apache-2.0

"""Many texts that differ only in some words, written at once: a sheet with a line for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.search.labels import Texts

Sheet: TypeAlias = NDArray[np.uint8]


def sheet(lines: int, parts: Sequence[bytes | Texts]) -> Sheet:
    """So many lines, each made of the same parts; of a column of words each line has its own."""
    widths = [len(part) if isinstance(part, bytes) else part.itemsize for part in parts]
    blank = b"".join([part if isinstance(part, bytes) else bytes(part.itemsize) for part in parts])
    written = np.empty((lines, len(blank)), np.uint8)
    written[:] = np.frombuffer(blank, np.uint8)
    start = 0
    for part, width in zip(parts, widths, strict=True):
        if not isinstance(part, bytes):
            words = f"V{width}"
            written[:, start : start + width].view(words)[:, 0] = part.view(words)
        start += width
    return written


def lines_of(written: Sheet) -> list[bytes]:
    text, width = written.tobytes(), written.shape[1]
    return [text[start : start + width] for start in range(0, len(text), width)]
