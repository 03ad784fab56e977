# SPDX-License-Identifier: Apache-2.0

"""Bodies in chunks, and trailers."""

from tests.attacks.rfc.case import CHUNKED, LAST, Case, Then, chunk, create, document, each, one_of

_BAD = one_of(400)
_CLOSED, _OPEN, _EITHER = Then.CLOSED, Then.OPEN, Then.EITHER


def _chunks(name: str, body: bytes) -> bytes:
    return create(name, CHUNKED, body=body)


_DOC = document
CHUNKS = [
    Case(
        "many chunks",
        "9112 7.1",
        _chunks("many", b"".join(chunk(bytes([b])) for b in _DOC("many")) + LAST),
        each(200),
        _OPEN,
        leaves="many",
    ),
    Case(
        "a size that is no number",
        "9112 7.1",
        _chunks("size", b"zz\r\nabc\r\n" + LAST),
        _BAD,
        _CLOSED,
        leaves="!size",
    ),
    Case(
        "a negative size",
        "9112 7.1",
        _chunks("negative", b"-1\r\nabc\r\n" + LAST),
        _BAD,
        _CLOSED,
        leaves="!negative",
    ),
    Case("a size with 0x", "9112 7.1", _chunks("0x", b"0x3\r\nabc\r\n" + LAST), _BAD, _CLOSED, leaves="!0x"),
    Case(
        "an empty size", "9112 7.1", _chunks("nosize", b"\r\nabc\r\n" + LAST), _BAD, _CLOSED, leaves="!nosize"
    ),
    Case(
        "a size beyond 64 bits",
        "9112 7.1",
        _chunks("far", b"fffffffffffffffff\r\nabc\r\n"),
        one_of(400, 413),
        _CLOSED,
        leaves="!far",
    ),
    Case(
        "a size of 4 GB",
        "9112 7.1",
        _chunks("4g", b"ffffffff\r\nabc\r\n"),
        one_of(400, 413),
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!4g",
    ),
    Case(
        "an extension",
        "9112 7.1.1",
        _chunks("extension", chunk(_DOC("extension"), b';a=b;c="d"') + LAST),
        one_of(200, 400),
        _EITHER,
    ),
    Case(
        "an extension of 200 kB",
        "9112 7.1.1",
        _chunks("long", chunk(_DOC("long"), b";" + b"a" * 200_000) + LAST),
        one_of(400, 413, 431),
        _CLOSED,
        leaves="!long",
    ),
    Case(
        "200 kB of extensions",
        "9112 7.1.1",
        _chunks(
            "sum", b"".join(chunk(b" ", b";" + b"a" * 1_000) for _ in range(200)) + chunk(_DOC("sum")) + LAST
        ),
        one_of(400, 413, 431),
        _CLOSED,
        leaves="!sum",
    ),
    Case(
        "no line end after a chunk",
        "9112 7.1",
        _chunks("noend", b"%x\r\n" % len(_DOC("noend")) + _DOC("noend") + LAST),
        _BAD,
        _CLOSED,
        leaves="!noend",
    ),
    Case(
        "a longer chunk than its size",
        "9112 7.1",
        _chunks("longer", b"3\r\n" + _DOC("longer") + b"\r\n" + LAST),
        _BAD,
        _CLOSED,
        leaves="!longer",
    ),
    Case(
        "a line of a chunk that ends with LF",
        "9112 7.1",
        _chunks("lf", b"%x\n" % len(_DOC("lf")) + _DOC("lf") + b"\r\n" + LAST),
        _BAD,
        _CLOSED,
        leaves="!lf",
    ),
    Case(
        "a blank before the size",
        "9112 7.1",
        _chunks("space", b" " + chunk(_DOC("space")) + LAST),
        _BAD,
        _CLOSED,
        leaves="!space",
    ),
    Case(
        "cut before the last chunk",
        "9112 8",
        _chunks("cut", chunk(_DOC("cut"))),
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!cut",
    ),
    Case(
        "cut inside the last chunk",
        "9112 8",
        _chunks("cut-last", chunk(_DOC("cut-last")) + b"0\r\n"),
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!cut-last",
    ),
    Case(
        "cut inside a chunk",
        "9112 8",
        _chunks("cut-in", b"ff\r\n" + _DOC("cut-in")),
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!cut-in",
    ),
    Case(
        "a bad chunk after 300 kB",
        "9112 7.1",
        _chunks("late", chunk(b" " * 300_000) + b"zz\r\n"),
        _BAD,
        _CLOSED,
        leaves="!late",
    ),
    Case(
        "cut after 300 kB",
        "9112 8",
        _chunks("cut-late", chunk(b" " * 300_000) + chunk(_DOC("cut-late"))),
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!cut-late",
    ),
    Case(
        "a chunk per packet",
        "9112 7.1",
        _chunks("drops", b"".join(chunk(bytes([b])) for b in _DOC("drops")) + LAST),
        each(200),
        _OPEN,
        piece=6,
        leaves="drops",
    ),
]


def _anonymous(body: bytes) -> bytes:
    head = b"POST /resource_providers HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    return head + CHUNKED.encode() + b"\r\n\r\n" + body


TRAILERS = [
    Case(
        "a trailer",
        "9112 7.1.2",
        _chunks("trailer", chunk(_DOC("trailer")) + b"0\r\nX-Sum: 1\r\n\r\n"),
        each(200),
        _OPEN,
        leaves="trailer",
    ),
    Case(
        "a token in a trailer",
        "9110 6.5.1",
        _anonymous(chunk(_DOC("token")) + b"0\r\nX-Auth-Token: admin\r\n\r\n"),
        each(401),
        _EITHER,
        leaves="!token",
    ),
    Case(
        "a role in a trailer",
        "9110 6.5.1",
        _anonymous(chunk(_DOC("role")) + b"0\r\nX-Roles: admin\r\n\r\n").replace(
            b"Host: a", b"Host: a\r\nX-Auth-Token: mallory"
        ),
        each(403),
        _EITHER,
        leaves="!role",
    ),
    Case(
        "a second Host in a trailer",
        "9110 6.5.1",
        _chunks("host", chunk(_DOC("host")) + b"0\r\nHost: b\r\n\r\n"),
        one_of(200, 400),
        _EITHER,
    ),
    Case(
        "trailers of 200 kB",
        "9112 7.1.2",
        _chunks("long-trailer", chunk(_DOC("long-trailer")) + b"0\r\n" + b"x: y\r\n" * 34_000 + b"\r\n"),
        one_of(400, 413, 431),
        _CLOSED,
        leaves="!long-trailer",
    ),
    Case(
        "one trailer of 200 kB",
        "9112 7.1.2",
        _chunks("one-trailer", chunk(_DOC("one-trailer")) + b"0\r\nx: " + b"y" * 200_000 + b"\r\n\r\n"),
        one_of(400, 413, 431),
        _CLOSED,
        leaves="!one-trailer",
    ),
]

CASES = CHUNKS + TRAILERS
