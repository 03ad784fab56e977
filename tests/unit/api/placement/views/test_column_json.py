# SPDX-License-Identifier: Apache-2.0

"""Sheets: many lines that differ only in some words."""

import numpy as np

from plimsoll.api.placement.views.column_json import lines_of, sheet

FIRST, SECOND = np.array([b"aa", b"bb", b"cc"]), np.array([b"1", b"2", b"3"])


def test_each_line_has_its_own_words() -> None:
    written = sheet(3, [(b"<", FIRST), (b"-", SECOND), (b"-", FIRST)], b">")
    assert bytes(written) == b"<aa-1-aa><bb-2-bb><cc-3-cc>"
    assert lines_of(written, 3) == [b"<aa-1-aa>", b"<bb-2-bb>", b"<cc-3-cc>"]


def test_columns_may_be_taken_from_larger_ones() -> None:
    assert bytes(sheet(2, [(b" ", FIRST[::2])], b".")) == b" aa. cc."


def test_no_lines_are_nothing() -> None:
    assert sheet(0, [(b"<", FIRST[:0])], b">") == b""
