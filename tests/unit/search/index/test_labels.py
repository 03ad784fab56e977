# SPDX-License-Identifier: Apache-2.0

"""Uuids as JSON text of one width."""

import json
import uuid

from plimsoll.search.index.blocks import BLOCK
from plimsoll.search.index.labels import Labels


def read(labels: Labels, row: int) -> object:
    return json.loads(bytes(labels.whole()[row : row + 1].view("S1").tobytes()))


def test_a_label_is_a_quoted_uuid() -> None:
    one = str(uuid.uuid4())
    assert Labels().replaced({0: one}).whole()[0] == f'"{one}"'.encode()
    assert len(Labels().whole()) == 0


def test_a_text_of_any_kind_can_be_read_back() -> None:
    labels = Labels().replaced({0: str(uuid.uuid4()), 1: "short", 2: 'qu"oted \\ ü', BLOCK: "long" * 20})
    later = labels.replaced({3: "longer " * 20})
    assert [read(labels, row) for row in (1, 2, BLOCK)] == ["short", 'qu"oted \\ ü', "long" * 20]
    assert [read(later, row) for row in (1, 2, 3, BLOCK)] == [
        "short",
        'qu"oted \\ ü',
        "longer " * 20,
        "long" * 20,
    ]
