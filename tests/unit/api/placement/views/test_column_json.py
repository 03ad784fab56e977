# SPDX-License-Identifier: Apache-2.0

"""Columns of values are written into copies of a template."""

import numpy as np

from plimsoll.api.placement.views.column_json import fill_template, split_records

FIRST, SECOND = np.array([b"aa", b"bb", b"cc"]), np.array([b"1", b"2", b"3"])


def test_each_record_has_its_own_values() -> None:
    filled = fill_template(3, [(b"<", FIRST), (b"-", SECOND), (b"-", FIRST)], b">")
    assert bytes(filled) == b"<aa-1-aa><bb-2-bb><cc-3-cc>"
    assert split_records(filled, 3) == [b"<aa-1-aa>", b"<bb-2-bb>", b"<cc-3-cc>"]


def test_columns_may_be_slices_of_larger_ones() -> None:
    assert bytes(fill_template(2, [(b" ", FIRST[::2])], b".")) == b" aa. cc."


def test_no_records_are_an_empty_text() -> None:
    assert fill_template(0, [(b"<", FIRST[:0])], b">") == b""
