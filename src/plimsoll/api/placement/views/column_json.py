# SPDX-License-Identifier: Apache-2.0

"""Encode many texts that differ only in fixed-width values: repeat a template, then write columns with numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.search.index.labels import Texts


def fill_template(count: int, columns: Sequence[tuple[bytes, Texts]], end: bytes) -> bytearray:
    """Return `count` texts, concatenated. Each is, for every column, the text before it and its value, then `end`."""
    template, starts = b"", []
    for before, column in columns:
        template += before
        starts.append(len(template))
        template += bytes(column.itemsize)
    template += end
    filled = bytearray(template) * count
    if count:
        for start, (_, column) in zip(starts, columns, strict=True):
            np.ndarray(count, column.dtype, filled, start, (len(template),))[:] = column
    return filled


def split_records(filled: bytearray, count: int) -> list[bytes]:
    text, width = bytes(filled), len(filled) // count
    return [text[start : start + width] for start in range(0, len(text), width)]
