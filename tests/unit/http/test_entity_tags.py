# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from plimsoll.http.entity_tags import entity_tag, is_matched


def test_equal_bodies_have_equal_tags_in_quotation_marks() -> None:
    assert entity_tag(b"a") == entity_tag(b"a") != entity_tag(b"b")
    assert entity_tag(b"a")[0] == entity_tag(b"a")[-1] == '"'


@pytest.mark.parametrize(
    ("etag", "header", "matches"),
    [
        ('"1"', '"1"', True),
        ('"1"', '"0", W/"1"', True),
        ('W/"1"', '"1"', True),
        ('"1"', "*", True),
        ('"1"', '"2"', False),
        ('"1"', "1", False),
        ('"1"', None, False),
        (None, "*", False),
    ],
)
def test_if_none_match_is_compared_weakly(etag: str | None, header: str | None, matches: bool) -> None:
    assert is_matched(etag, header) is matches
