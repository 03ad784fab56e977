# SPDX-License-Identifier: Apache-2.0

"""Conversion of headers to WSGI."""

from __future__ import annotations

import pytest

from plimsoll.server.headers import as_wsgi

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
        ([(b"x" * 1000, b"long"), HOST], {"HTTP_" + "X" * 1000: "long", "HTTP_HOST": "h"}),
    ],
)
def test_headers_become_keys_and_values_of_wsgi(
    given: list[tuple[bytes, bytes]], expected: dict[str, str]
) -> None:
    assert as_wsgi(given) == expected
    assert as_wsgi(given) == expected, "with names in the cache"
