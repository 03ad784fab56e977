# SPDX-License-Identifier: Apache-2.0

"""What becomes of headers, when they come for the first time and when they come again."""

from __future__ import annotations

import pytest

from plimsoll.server.headers import KEPT, Headers

Given = list[tuple[bytes, bytes]]

HOST = (b"Host", b"h")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], {}),
        ([HOST, (b"X-Auth-Token", b"t \t")], {"HTTP_HOST": "h", "HTTP_X_AUTH_TOKEN": "t"}),
        (
            [(b"content-TYPE", b"a/b"), (b"Content-Length", b"3")],
            {"CONTENT_TYPE": "a/b", "CONTENT_LENGTH": "3"},
        ),
        ([(b"Accept", b"a"), HOST, (b"accept", b"b")], {"HTTP_ACCEPT": "a,b", "HTTP_HOST": "h"}),
        ([(b"Accept", b"a"), (b"Accept", b"a")], {"HTTP_ACCEPT": "a,a"}),
        ([HOST, (b"X_Roles", b"admin")], {"HTTP_HOST": "h"}),
        ([(b"X-Name", b"\xc3\xa4")], {"HTTP_X_NAME": "\u00c3\u00a4"}),
        ([(b"X-Long", b"x" * 2 * KEPT), HOST], {"HTTP_X_LONG": "x" * 2 * KEPT, "HTTP_HOST": "h"}),
    ],
)
def test_headers_are_the_same_whether_they_are_known_or_not(given: Given, expected: dict[str, str]) -> None:
    headers = Headers()
    for _ in range(3):
        assert headers.as_wsgi(given) == expected
    assert headers.as_wsgi([HOST]) == {"HTTP_HOST": "h"}
    assert headers.as_wsgi(given) == expected


def test_what_is_made_of_known_headers_is_the_requests_own() -> None:
    headers = Headers()
    headers.as_wsgi([HOST])
    headers.as_wsgi([HOST])["HTTP_X_ROLES"] = "admin"
    assert headers.as_wsgi([HOST]) == {"HTTP_HOST": "h"}


@pytest.mark.parametrize("length", [1, 1000, KEPT, 2 * KEPT])
def test_no_more_is_kept_than_there_is_room_for(length: int) -> None:
    headers = Headers()
    for number in range(200):
        value = b"%d" % number + b"x" * length
        assert headers.as_wsgi([HOST, (b"X", value)]) == {"HTTP_HOST": "h", "HTTP_X": value.decode()}
        kept = sum(len(name) + len(value) for name, value in headers._known)
        assert kept <= KEPT
        assert len(headers._known) <= KEPT // 100
