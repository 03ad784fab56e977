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
    blank = b""
    columns: list[tuple[int, Texts]] = []
    for part in parts:
        if isinstance(part, bytes):
            blank += part
        else:
            columns.append((len(blank), part))
            blank += bytes(part.itemsize)
    written = np.frombuffer(bytearray(blank) * lines, np.uint8).reshape(lines, len(blank))
    for start, column in columns:
        word = f"V{column.itemsize}"
        written[:, start : start + column.itemsize].view(word)[:, 0] = column.view(word)
    return written


def lines_of(written: Sheet) -> list[bytes]:
    text, width = written.tobytes(), written.shape[1]
    return [text[start : start + width] for start in range(0, len(text), width)]
