# SPDX-License-Identifier: Apache-2.0

"""Columns of values are written into copies of a template; uuids are encoded once per chunk."""

import json
import uuid

import numpy as np
import pytest

from plimsoll.api.placement.views import column_json
from plimsoll.api.placement.views.column_json import Texts, UuidTexts, fill_template, split_records
from plimsoll.domain.provider import Provider
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.index.table import CHUNK, Chunk

FIRST, SECOND = np.array([b"aa", b"bb", b"cc"]), np.array([b"1", b"2", b"3"])


def test_each_record_has_its_own_values() -> None:
    filled = fill_template(3, [(b"<", FIRST), (b"-", SECOND), (b"-", FIRST)], b">")
    assert bytes(filled) == b"<aa-1-aa><bb-2-bb><cc-3-cc>"
    assert split_records(filled, 3) == [b"<aa-1-aa>", b"<bb-2-bb>", b"<cc-3-cc>"]


def test_columns_may_be_slices_of_larger_ones() -> None:
    assert bytes(fill_template(2, [(b" ", FIRST[::2])], b".")) == b" aa. cc."


def test_no_records_are_an_empty_text() -> None:
    assert fill_template(0, [(b"<", FIRST[:0])], b">") == b""


def index_of(*uuids: str) -> Index:
    return Index.build(Provider(number, uuid, uuid, uuid) for number, uuid in enumerate(uuids, 1))


def read(texts: UuidTexts, index: Index) -> list[object]:
    found = texts.of(Selection(index, np.arange(index.size))).tolist()
    assert len({len(text) for text in found}) == 1, "all of one width"
    return [json.loads(text) for text in found]


def test_a_uuid_is_json_without_padding() -> None:
    one = str(uuid.uuid4())
    index = index_of(one)
    assert UuidTexts().of(Selection(index, np.arange(1))).tolist() == [f'"{one}"'.encode()]


def test_odd_uuids_are_escaped_and_padded() -> None:
    uuids = [str(uuid.uuid4()), "short", 'qu"oted \\ ü', *map(str, range(CHUNK)), "long" * 20]
    assert read(UuidTexts(), index_of(*uuids)) == uuids


def test_only_the_chunks_with_new_providers_are_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Chunk[str]] = []
    encode = column_json._texts

    def recorded(chunk: Chunk[str]) -> Texts:
        encoded.append(chunk)
        return encode(chunk)

    monkeypatch.setattr(column_json, "_texts", recorded)
    uuids = [f"p{number}" for number in range(CHUNK + 1)]
    texts, index = UuidTexts(), index_of(*uuids)
    assert read(texts, index) == uuids
    assert len(encoded) == 2
    before = index.provider(0)
    claimed = index.claimed([(before, Provider(1, "p0", "p0", before.root, used={"VCPU": 1}))])
    assert read(texts, claimed) == uuids
    assert len(encoded) == 2, "a claim changes no uuid"
    added = index.updated([(None, Provider(CHUNK + 2, "new", "new", "new"))])
    assert read(texts, added) == [*uuids, "new"]
    assert len(encoded) == 3
    assert read(texts, index) == uuids, "an older index still has its own"
