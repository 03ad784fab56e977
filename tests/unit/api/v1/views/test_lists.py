# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from plimsoll.api.v1.views.lists import ITEMS_PER_PIECE, encoded_batches, json_lines, list_document

COUNTS = pytest.mark.parametrize("count", [0, 1, ITEMS_PER_PIECE, ITEMS_PER_PIECE + 1, 3 * ITEMS_PER_PIECE])


def encode(items: Sequence[int]) -> list[bytes]:
    return [b"%d" % item for item in items]


@COUNTS
def test_pieces_together_are_one_document(count: int) -> None:
    batches = encoded_batches(range(count), encode, lambda: None)
    pieces = list_document({"revision": "e:1", "of": None}, "things", batches, "7")
    assert json.loads(b"".join(pieces)) == {
        "revision": "e:1",
        "of": None,
        "things": list(range(count)),
        "next": "7",
    }


@COUNTS
def test_each_item_has_a_line(count: int) -> None:
    pieces = json_lines(encoded_batches(range(count), encode, lambda: None))
    assert b"".join(pieces) == b"".join(b"%d\n" % number for number in range(count))


@COUNTS
def test_other_requests_run_between_pieces(count: int) -> None:
    pauses: list[None] = []
    list(encoded_batches(range(count), encode, lambda: pauses.append(None)))
    assert len(pauses) == -(-count // ITEMS_PER_PIECE)
