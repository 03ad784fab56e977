# SPDX-License-Identifier: Apache-2.0

"""Where a body ends: Content-Length and Transfer-Encoding."""

from tests.attacks.rfc.case import CHUNKED, LAST, Case, Then, chunk, create, document, each, one_of

_BAD = one_of(400)
_CLOSED, _OPEN, _EITHER = Then.CLOSED, Then.OPEN, Then.EITHER


def _sized(name: str, *values: str) -> bytes:
    """With these values of Content-Length, in which {} is the right one."""
    size = len(document(name))
    return create(name, *(f"Content-Length: {value.replace('{}', str(size))}" for value in values))


def _encoded(name: str, *values: str, version: str = "HTTP/1.1") -> bytes:
    lines = (f"Transfer-Encoding: {value}" for value in values)
    return create(name, *lines, body=chunk(document(name)) + LAST, version=version)


LENGTHS = [
    Case("Content-Length", "9112 6.2", _sized("length", "{}"), each(200), _OPEN, leaves="length"),
    Case("two equal lengths", "9112 6.3", _sized("equal", "{}", "{}"), _BAD, _CLOSED, leaves="!equal"),
    Case(
        "two equal lengths in one line", "9112 6.3", _sized("list", "{}, {}"), _BAD, _CLOSED, leaves="!list"
    ),
    Case(
        "two different lengths",
        "9112 6.3",
        _sized("different", "{}", "1"),
        _BAD,
        _CLOSED,
        leaves="!different",
    ),
    Case("a length with a plus", "9110 8.6", _sized("plus", "+{}"), _BAD, _CLOSED, leaves="!plus"),
    Case("a negative length", "9110 8.6", _sized("minus", "-{}"), _BAD, _CLOSED, leaves="!minus"),
    Case("a blank length", "9110 8.6", _sized("blank", ""), _BAD, _CLOSED, leaves="!blank"),
    Case(
        "a length in hexadecimal",
        "9110 8.6",
        _sized("hexadecimal", "0x12"),
        _BAD,
        _CLOSED,
        leaves="!hexadecimal",
    ),
    Case("a length with a blank inside", "9110 8.6", _sized("split", "1 8"), _BAD, _CLOSED, leaves="!split"),
    Case("a length with a point", "9110 8.6", _sized("point", "{}.0"), _BAD, _CLOSED, leaves="!point"),
    Case(
        "a length beyond 64 bits",
        "9110 8.6",
        _sized("beyond", "99999999999999999999"),
        one_of(400, 413),
        _CLOSED,
        leaves="!beyond",
    ),
    Case(
        "a length of 100 GB",
        "9110 15.5.14",
        _sized("huge", "107374182400"),
        each(413),
        _CLOSED,
        leaves="!huge",
    ),
    Case(
        "a body shorter than its length",
        "9112 8",
        create("cut-length", "Content-Length: 100"),
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
        leaves="!cut-length",
    ),
    Case(
        "an unwanted body",
        "9110 9.3.1",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        one_of(200, 400),
        _OPEN,
    ),
]

ENCODINGS = [
    Case("chunked", "9112 7.1", _encoded("chunked", "chunked"), each(200), _OPEN, leaves="chunked"),
    Case(
        "chunked in other letters",
        "9112 7",
        _encoded("ChunkeD", "ChunkeD"),
        each(200),
        _OPEN,
        leaves="ChunkeD",
    ),
    Case(
        "length and chunked",
        "9112 6.1",
        create("both", "Content-Length: 5", CHUNKED, body=chunk(document("both")) + LAST),
        _BAD,
        _CLOSED,
        leaves="!both",
    ),
    Case(
        "chunked and length",
        "9112 6.1",
        create("both2", CHUNKED, "Content-Length: 5", body=chunk(document("both2")) + LAST),
        _BAD,
        _CLOSED,
        leaves="!both2",
    ),
    Case(
        "gzip, chunked",
        "9112 6.1",
        _encoded("gzip", "gzip, chunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!gzip",
    ),
    Case(
        "gzip and chunked in two lines",
        "9112 6.1",
        _encoded("gzip2", "gzip", "chunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!gzip2",
    ),
    Case(
        "chunked twice",
        "9112 6.1",
        _encoded("twice", "chunked, chunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!twice",
    ),
    Case(
        "chunked twice in two lines",
        "9112 6.1",
        _encoded("twice2", "chunked", "chunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!twice2",
    ),
    Case(
        "chunked and then gzip",
        "9112 6.3",
        _encoded("last", "chunked, gzip"),
        one_of(400, 501),
        _CLOSED,
        leaves="!last",
    ),
    Case(
        "xchunked",
        "9112 6.1",
        _encoded("xchunked", "xchunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!xchunked",
    ),
    Case(
        "identity", "9112 7", _encoded("identity", "identity"), one_of(400, 501), _CLOSED, leaves="!identity"
    ),
    Case(
        "a vertical tab before chunked",
        "9112 6.1",
        _encoded("tab", "\x0bchunked"),
        one_of(400, 501),
        _CLOSED,
        leaves="!tab",
    ),
    Case("an empty encoding", "9112 6.1", _encoded("empty", ""), one_of(400, 501), _CLOSED, leaves="!empty"),
    Case(
        "chunked in HTTP/1.0",
        "9112 6.1",
        _encoded("old", "chunked", version="HTTP/1.0"),
        one_of(400, 501),
        _CLOSED,
        leaves="!old",
    ),
]

CASES = LENGTHS + ENCODINGS
