# SPDX-License-Identifier: Apache-2.0

"""Many texts that differ only in some words, written at once: a sheet with a line for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.search.index.labels import Texts


def sheet(lines: int, words: Sequence[tuple[bytes, Texts]], end: bytes) -> bytearray:
    """So many lines, one after the other: for each column of words what stands before it and the line's own, then the end."""
    blank, starts = b"", []
    for before, column in words:
        blank += before
        starts.append(len(blank))
        blank += bytes(column.itemsize)
    blank += end
    written = bytearray(blank) * lines
    if lines:
        for start, (_, column) in zip(starts, words, strict=True):
            np.ndarray(lines, column.dtype, written, start, (len(blank),))[:] = column
    return written


def lines_of(written: bytearray, lines: int) -> list[bytes]:
    text, width = bytes(written), len(written) // lines
    return [text[start : start + width] for start in range(0, len(text), width)]
