# SPDX-License-Identifier: Apache-2.0

"""Conversion of headers to WSGI, with and without the cache."""

from __future__ import annotations

import pytest

from plimsoll.server.headers import MAX_CACHED_BYTES, HeaderCache

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
        (
            [(b"X-Long", b"x" * 2 * MAX_CACHED_BYTES), HOST],
            {"HTTP_X_LONG": "x" * 2 * MAX_CACHED_BYTES, "HTTP_HOST": "h"},
        ),
    ],
)
def test_headers_are_the_same_whether_cached_or_not(given: Given, expected: dict[str, str]) -> None:
    headers = HeaderCache()
    for _ in range(3):
        assert headers.as_wsgi(given) == expected
    assert headers.as_wsgi([HOST]) == {"HTTP_HOST": "h"}
    assert headers.as_wsgi(given) == expected


def test_each_request_gets_its_own_dictionary_of_cached_headers() -> None:
    headers = HeaderCache()
    headers.as_wsgi([HOST])
    headers.as_wsgi([HOST])["HTTP_X_ROLES"] = "admin"
    assert headers.as_wsgi([HOST]) == {"HTTP_HOST": "h"}


@pytest.mark.parametrize("length", [1, 1000, MAX_CACHED_BYTES, 2 * MAX_CACHED_BYTES])
def test_the_cache_is_bounded_in_bytes(length: int) -> None:
    headers = HeaderCache()
    for number in range(200):
        value = b"%d" % number + b"x" * length
        assert headers.as_wsgi([HOST, (b"X", value)]) == {"HTTP_HOST": "h", "HTTP_X": value.decode()}
        cached = sum(len(name) + len(value) for name, value in headers._cache)
        assert cached <= MAX_CACHED_BYTES
        assert len(headers._cache) <= MAX_CACHED_BYTES // 100
