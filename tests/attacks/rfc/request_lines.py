# SPDX-License-Identifier: Apache-2.0

"""Request lines: method, target, version."""

from tests.attacks.rfc.case import Case, Then, each, get, one_of

_HOST = b"Host: placement\r\n\r\n"
_BAD = one_of(400)
_CLOSED, _OPEN, _EITHER = Then.CLOSED, Then.OPEN, Then.EITHER


def _line(line: bytes) -> bytes:
    return line + b"\r\n" + _HOST


CASES = [
    Case("plain", "9112 2.1", get(), each(200), _OPEN),
    Case("an empty line before the request", "9112 2.2", b"\r\n" + get(), each(200), _OPEN),
    Case(
        "method with a character outside of tokens",
        "9110 5.6.2",
        _line(b"G@T / HTTP/1.1"),
        one_of(400, 501),
        _CLOSED,
    ),
    Case("method in lower case", "9110 9.1", _line(b"get / HTTP/1.1"), one_of(400, 405, 501), _EITHER),
    Case(
        "method that only this request has",
        "9110 9.1",
        _line(b"BREW /allocation_candidates HTTP/1.1"),
        one_of(401, 405, 501),
        _EITHER,
    ),
    Case(
        "method that begins like another",
        "9110 9.1",
        _line(b"GETX / HTTP/1.1"),
        one_of(400, 405, 501),
        _EITHER,
    ),
    Case("method of WebDAV", "9110 9.1", _line(b"PROPFIND / HTTP/1.1"), one_of(405, 501), _EITHER),
    Case(
        "PATCH is no method of this API",
        "9110 15.5.6",
        b"PATCH /resource_providers HTTP/1.1\r\nX-Auth-Token: admin\r\n" + _HOST,
        each(405),
        _OPEN,
    ),
    Case("empty method", "9112 3", _line(b" / HTTP/1.1"), _BAD, _CLOSED, unshaped=True),
    Case("no version", "9112 3", _line(b"GET /"), one_of(400, 505), _CLOSED, unshaped=True),
    Case(
        "HTTP/0.9",
        "9112 2.3",
        b"GET /\r\n",
        one_of(400, 505),
        _CLOSED,
        unshaped=True,
        ends=True,
        may_be_silent=True,
    ),
    Case("named HTTP/0.9", "9112 2.3", get(version="HTTP/0.9"), one_of(400, 505), _CLOSED, unshaped=True),
    Case("a later minor version", "9110 6.2", get(version="HTTP/1.2"), one_of(200, 400, 505), _EITHER),
    Case("HTTP/2.0", "9110 15.6.6", get(version="HTTP/2.0"), one_of(400, 505), _CLOSED, unshaped=True),
    Case("HTTP/3.0", "9110 15.6.6", get(version="HTTP/3.0"), one_of(400, 505), _CLOSED, unshaped=True),
    Case(
        "the preface of HTTP/2",
        "9113 3.4",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        one_of(400, 505),
        _CLOSED,
        unshaped=True,
    ),
    Case(
        "version in lower case", "9112 2.3", get(version="http/1.1"), one_of(400, 505), _CLOSED, unshaped=True
    ),
    Case(
        "version with three numbers",
        "9112 2.3",
        get(version="HTTP/1.1.1"),
        one_of(400, 505),
        _CLOSED,
        unshaped=True,
    ),
    Case(
        "version with a leading zero",
        "9112 2.3",
        get(version="HTTP/01.1"),
        one_of(400, 505),
        _CLOSED,
        unshaped=True,
    ),
    Case("RTSP", "9112 2.3", get(version="RTSP/1.0"), one_of(400, 505), _CLOSED, unshaped=True),
    Case(
        "a method of RTSP",
        "9112 2.3",
        _line(b"DESCRIBE / RTSP/1.0"),
        one_of(400, 501, 505),
        _CLOSED,
        unshaped=True,
    ),
    Case(
        "a method of RTSP as HTTP", "9110 9.1", _line(b"DESCRIBE / HTTP/1.1"), one_of(400, 405, 501), _EITHER
    ),
    Case("SIP", "9112 2.3", get(version="SIP/2.0"), one_of(400, 505), _CLOSED, unshaped=True),
    Case("tabs", "9112 3", _line(b"GET\t/\tHTTP/1.1"), one_of(400, 501), _CLOSED, unshaped=True),
    Case("two blanks", "9112 3", _line(b"GET  / HTTP/1.1"), _BAD, _CLOSED, unshaped=True),
    Case("a blank in the target", "9112 3.2", _line(b"GET /a b HTTP/1.1"), _BAD, _CLOSED, unshaped=True),
    Case("a blank at the end", "9112 3", _line(b"GET / HTTP/1.1 "), _BAD, _CLOSED, unshaped=True),
    Case(
        "a control character in the target",
        "9112 3.2",
        _line(b"GET /\x01 HTTP/1.1"),
        _BAD,
        _CLOSED,
        unshaped=True,
    ),
    Case("NUL in the target", "9112 3.2", _line(b"GET /\x00 HTTP/1.1"), _BAD, _CLOSED, unshaped=True),
    Case(
        "bytes beyond ASCII in the target",
        "9112 3.2",
        _line(b"GET /\xc3\xa4 HTTP/1.1"),
        one_of(400, 401, 404),
        _EITHER,
    ),
    Case(
        "an encoded NUL in the target",
        "9110 4.2",
        get("/%00", "X-Auth-Token: admin"),
        one_of(400, 404),
        _EITHER,
    ),
    Case(
        "a broken encoding in the target",
        "9110 4.2",
        get("/%zz", "X-Auth-Token: admin"),
        one_of(400, 404),
        _EITHER,
    ),
    Case(
        "a target of 70,000 characters",
        "9110 15.5.15",
        get("/" + "a" * 70_000),
        one_of(414, 431),
        _CLOSED,
        unshaped=True,
    ),
    Case("absolute form", "9112 3.2.2", get("http://placement/"), each(200), _OPEN),
    Case("absolute form in upper case", "9112 3.2.2", get("HTTP://PLACEMENT/"), each(200), _OPEN),
    Case("absolute form without a path", "9112 3.2.2", get("http://placement"), one_of(200, 400), _EITHER),
    Case(
        "absolute form with a slash only in the query",
        "9112 3.2.2",
        get("http://placement?a=/resource_providers"),
        one_of(200, 400),
        _EITHER,
    ),
    Case("absolute form without a host", "9110 4.2.1", get("http:///"), _BAD, _CLOSED),
    Case(
        "absolute form with credentials",
        "9110 4.2.4",
        get("http://user:word@placement/"),
        one_of(200, 400),
        _EITHER,
    ),
    Case("absolute form of another scheme", "9112 3.2.2", get("ftp://placement/"), one_of(400, 421), _EITHER),
    Case(
        "a target that contains ://", "9112 3.2.1", get("/a://b/resource_providers"), one_of(401, 404), _OPEN
    ),
    Case("relative target", "9112 3.2", get("resource_providers"), _BAD, _CLOSED),
    Case("authority form", "9112 3.2.3", get("placement:80"), _BAD, _CLOSED),
    Case("CONNECT", "9110 9.3.6", _line(b"CONNECT placement:80 HTTP/1.1"), one_of(400, 405, 501), _EITHER),
    Case(
        "asterisk form",
        "9112 3.2.4",
        _line(b"OPTIONS * HTTP/1.1"),
        one_of(200, 204, 400, 401, 404, 405, 501),
        _EITHER,
    ),
    Case("asterisk form of another method", "9112 3.2.4", get("*"), _BAD, _CLOSED),
    Case(
        "a TLS handshake",
        "9112 3",
        b"\x16\x03\x01\x00\xf1\x01\x00\x00\xed\x03\x03" + bytes(230),
        _BAD,
        _CLOSED,
        unshaped=True,
    ),
    Case(
        "bytes that mean nothing",
        "9112 3",
        b"\xff\xfe\x00garbage\r\n\r\n",
        one_of(400, 501),
        _CLOSED,
        unshaped=True,
    ),
    Case("a path of 4,000 bytes", "9110 4.1", get("/" + "a" * 4_000), each(401), _OPEN),
    Case("a path of 60,000 bytes", "9110 15.5.15", get("/" + "a" * 60_000), each(414), _CLOSED),
    Case(
        "a path of 60,000 bytes in absolute form",
        "9110 15.5.15",
        get("http://a/" + "a" * 60_000),
        each(414),
        _CLOSED,
    ),
    Case("400 parameters", "9110 4.1", get("/healthz?" + "a&" * 400), each(200), _OPEN),
    Case("20,000 parameters", "9110 15.5.15", get("/healthz?" + "a&" * 20_000), each(414), _CLOSED),
    Case("20,000 parameters with semicolons", "9110 15.5.15", get("/?" + "a;" * 20_000), each(414), _CLOSED),
    Case(
        "a list of 5,000 items",
        "9110 15.5.15",
        get("/resource_providers?required=" + "a," * 5_000),
        each(414),
        _CLOSED,
    ),
    Case(
        "a list of 5,000 items, encoded",
        "9110 15.5.15",
        get("/resource_providers?required=" + "a%2c" * 5_000),
        each(414),
        _CLOSED,
    ),
    Case("20,000 encoded bytes", "9110 15.5.15", get("/?a=" + "%41" * 19_000), each(414), _CLOSED),
    Case("one parameter of 60,000 bytes", "9110 4.1", get("/?a=" + "a" * 60_000), each(200), _OPEN),
    Case("one byte per packet", "9112 2.2", get(), each(200), _OPEN, piece=1),
]
