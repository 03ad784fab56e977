# SPDX-License-Identifier: Apache-2.0

"""Header fields: Host, the syntax of lines, limits, Expect."""

from tests.attacks.rfc.case import Case, Then, create, document, each, get, one_of

_BAD = one_of(400)
_CLOSED, _OPEN, _EITHER = Then.CLOSED, Then.OPEN, Then.EITHER


def _raw(lines: bytes) -> bytes:
    return b"GET / HTTP/1.1\r\nHost: placement\r\n" + lines + b"\r\n\r\n"


def _padded(length: int, line: int = 1_000) -> bytes:
    """A GET whose head has exactly this many bytes, in lines of about this length."""
    bare = len(get())
    lines: list[str] = []
    while (left := length - bare - sum(len(each) + 2 for each in lines)) > 0:
        size = left if left < 2 * line else line
        lines.append("x-pad: ".ljust(size - 2, "a"))
    made = get("/", *lines)
    assert len(made) == length
    return made


def _list(name: str, length: int) -> str:
    """A header line whose value is a list, with this many bytes."""
    return f"{name}: {'a/a,' * (length // 4)}"


HOST = [
    Case("no Host", "9112 3.2", get(host=None), _BAD, _CLOSED),
    Case("no Host in HTTP/1.0", "9112 3.2", get(host=None, version="HTTP/1.0"), each(200), _CLOSED),
    Case("two Hosts", "9112 3.2", get("/", "Host: other"), _BAD, _CLOSED),
    Case("two equal Hosts", "9112 3.2", get("/", "Host: placement"), _BAD, _CLOSED),
    Case("two Hosts in HTTP/1.0", "9112 3.2", get("/", "Host: other", version="HTTP/1.0"), _BAD, _CLOSED),
    Case("an empty Host", "9110 7.2", get(host=""), one_of(200, 400), _EITHER),
    Case("Host with a port", "9110 7.2", get(host="placement:8778"), each(200), _OPEN),
    Case("Host as an address of IPv6", "9110 7.2", get(host="[::1]:8778"), each(200), _OPEN),
    Case("Host with an underscore", "9110 7.2", get(host="placement_api.svc"), each(200), _OPEN),
    Case("Host with a blank", "9112 3.2", get(host="a b"), _BAD, _CLOSED),
    Case("Host with a slash", "9112 3.2", get(host="a/b"), _BAD, _CLOSED),
    Case("Host with credentials", "9112 3.2", get(host="a@b"), _BAD, _CLOSED),
    Case("Host with two names", "9112 3.2", get(host="a, b"), _BAD, _CLOSED),
    Case("Host with a port that is no number", "9112 3.2", get(host="a:port"), _BAD, _CLOSED),
]

SYNTAX = [
    Case("a folded line", "9112 5.2", _raw(b"X-Long: a\r\n b"), one_of(200, 400), _EITHER),
    Case(
        "a folded token",
        "9112 5.2",
        b"GET /resource_providers HTTP/1.1\r\nHost: a\r\nX-Auth-Token:\r\n admin\r\n\r\n",
        _BAD,
        _CLOSED,
    ),
    Case("a blank before the colon", "9112 5.1", _raw(b"X-Name : a"), _BAD, _CLOSED),
    Case(
        "a blank before the first name",
        "9112 2.2",
        b"GET / HTTP/1.1\r\n Host: placement\r\n\r\n",
        _BAD,
        _CLOSED,
    ),
    Case("a line without a colon", "9112 5", _raw(b"nothing"), _BAD, _CLOSED),
    Case("an empty name", "9110 5.1", _raw(b": a"), _BAD, _CLOSED),
    Case("a name with brackets", "9110 5.1", _raw(b"x(y): a"), _BAD, _CLOSED),
    Case("a name beyond ASCII", "9110 5.1", _raw(b"x\xe4: a"), _BAD, _CLOSED),
    Case("a control character in a value", "9110 5.5", _raw(b"x: a\x01b"), one_of(200, 400), _EITHER),
    Case("NUL in a value", "9110 5.5", _raw(b"x: a\x00b"), _BAD, _CLOSED),
    Case("a bare CR in a value", "9112 2.2", _raw(b"x: a\rb"), _BAD, _CLOSED),
    Case(
        "a bare CR that hides a token",
        "9112 2.2",
        b"GET /resource_providers HTTP/1.1\r\nHost: a\r\nx: a\rX-Auth-Token: admin\r\n\r\n",
        _BAD,
        _CLOSED,
    ),
    Case(
        "lines that end with LF",
        "9112 2.2",
        b"GET / HTTP/1.1\nHost: placement\n\n",
        one_of(200, 400),
        _EITHER,
    ),
    Case(
        "one line that ends with LF",
        "9112 2.2",
        b"GET / HTTP/1.1\r\nx: a\nHost: placement\r\n\r\n",
        one_of(200, 400),
        _EITHER,
    ),
    Case(
        "lines that end with CR",
        "9112 2.2",
        b"GET / HTTP/1.1\rHost: placement\r\r",
        _BAD,
        _CLOSED,
        ends=True,
        may_be_silent=True,
    ),
    Case("bytes beyond ASCII in a value", "9110 5.5", _raw(b"x: \xc3\xa4\xff"), each(200), _OPEN),
    Case(
        "a name with an underscore is no header",
        "3875 4.1.18",
        b"GET /resource_providers HTTP/1.1\r\nHost: a\r\nX_Auth_Token: admin\r\n\r\n",
        each(401),
        _OPEN,
    ),
]

LIMITS = [
    Case("a head of 60,000 bytes", "9110 5.4", _padded(60_000), each(200), _OPEN),
    Case("a head of 65,536 bytes", "9110 5.4", _padded(65_536), each(200), _OPEN),
    Case("a head of 66,000 bytes", "9110 5.4", _padded(66_000), each(431), _CLOSED),
    Case("a head of 130,000 bytes in one line", "9110 5.4", _padded(130_000, 200_000), each(431), _CLOSED),
    Case("a head of 66,000 bytes in pieces", "9110 5.4", _padded(66_000), each(431), _CLOSED, piece=500),
    Case("a head of 60,000 bytes in pieces", "9110 5.4", _padded(60_000), each(200), _OPEN, piece=500),
    Case("10,000 header lines", "9110 5.4", get("/", *(["a:"] * 10_000)), one_of(200, 400, 431), _EITHER),
    Case("20,000 header lines", "9110 5.4", get("/", *(["a:"] * 20_000)), each(431), _CLOSED),
    Case("Accept with 1,000 bytes", "9110 5.4", get("/", _list("Accept", 1_000)), each(200), _OPEN),
    Case("Accept with 60,000 bytes", "9110 5.4", get("/", _list("Accept", 60_000)), each(431), _CLOSED),
    Case(
        "Accept with 60,000 bytes in pieces",
        "9110 5.4",
        get("/", _list("Accept", 60_000)),
        each(431),
        _CLOSED,
        piece=500,
    ),
    Case("Accept in 150 lines", "9110 5.4", get("/", *([_list("Accept", 200)] * 150)), each(431), _CLOSED),
    Case(
        "ACCEPT-ENCODING with 60,000 bytes",
        "9110 5.4",
        get("/", _list("ACCEPT-ENCODING", 60_000)),
        each(431),
        _CLOSED,
    ),
    Case(
        "If-None-Match with 60,000 bytes",
        "9110 5.4",
        get("/", _list("If-None-Match", 60_000)),
        each(431),
        _CLOSED,
    ),
    Case("a token with 30,000 bytes", "9110 5.4", get("/", _list("X-Auth-Token", 30_000)), each(200), _OPEN),
    Case(
        "a version header of 30,000 services",
        "9110 5.4",
        get("/", "OpenStack-API-Version: " + "," * 30_000),
        each(400),
        _OPEN,
    ),
]

_BODY = f"Content-Length: {len(document('expected'))}"
EXPECT = [
    Case(
        "Expect: 100-continue with its body",
        "9110 10.1.1",
        create("expected", "Expect: 100-continue", _BODY),
        one_of(200),
        _OPEN,
        leaves="expected",
    ),
    Case(
        "Expect in other letters",
        "9110 10.1.1",
        create("ExPected", "eXPECT: 100-ConTinue", _BODY),
        one_of(200),
        _OPEN,
        leaves="ExPected",
    ),
    Case(
        "Expect in HTTP/1.0",
        "9110 10.1.1",
        create(
            "old-expect",
            "Expect: 100-continue",
            f"Content-Length: {len(document('old-expect'))}",
            version="HTTP/1.0",
        ),
        one_of(200),
        _CLOSED,
        leaves="old-expect",
    ),
    Case(
        "an unknown expectation",
        "9110 10.1.1",
        create("unexpected", "Expect: miracles", f"Content-Length: {len(document('unexpected'))}"),
        each(417),
        _EITHER,
        leaves="!unexpected",
    ),
    Case(
        "an unknown expectation without a body",
        "9110 10.1.1",
        get("/", "Expect: miracles"),
        each(417),
        _EITHER,
    ),
]

CASES = HOST + SYNTAX + LIMITS + EXPECT
