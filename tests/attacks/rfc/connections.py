# SPDX-License-Identifier: Apache-2.0

"""Connections: their requests, the order of responses, and when they end."""

from tests.attacks.rfc.case import CHUNKED, LAST, Case, Then, chunk, create, document, each, get, one_of

_CLOSED, _OPEN, _EITHER = Then.CLOSED, Then.OPEN, Then.EITHER
_PADDED = get("/", *(f"x-pad-{n}: {'a' * 1_000}" for n in range(10)))

PERSISTENCE = [
    Case("close", "9112 9.6", get("/", "Connection: close"), each(200), _CLOSED),
    Case("close in a list", "9112 9.6", get("/", "Connection: x-pad, Close"), each(200), _CLOSED),
    Case("keep-alive", "9112 9.3", get("/", "Connection: keep-alive"), each(200), _OPEN),
    Case("HTTP/1.0", "9112 9.3", get(version="HTTP/1.0"), each(200), _CLOSED),
    Case(
        "HTTP/1.0 with keep-alive",
        "9112 9.3",
        get("/", "Connection: Keep-Alive", version="HTTP/1.0"),
        each(200),
        _OPEN,
    ),
    Case(
        "HTTP/1.0 with close",
        "9112 9.3",
        get("/", "Connection: close", version="HTTP/1.0"),
        each(200),
        _CLOSED,
    ),
    Case("a client that ends sending", "9112 9.6", get(), each(200), _CLOSED, ends=True),
    Case(
        "an upgrade to HTTP/2",
        "9110 7.8",
        get(
            "/",
            "Connection: Upgrade, HTTP2-Settings",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
        ),
        one_of(200, 400),
        _EITHER,
    ),
    Case(
        "an upgrade to WebSocket",
        "9110 7.8",
        get("/", "Connection: Upgrade", "Upgrade: websocket"),
        one_of(200, 400),
        _EITHER,
    ),
]

HEAD = [
    Case("HEAD", "9110 9.3.2", get().replace(b"GET", b"HEAD", 1), one_of(200, 405), _OPEN, method="HEAD"),
    Case(
        "HEAD without a token",
        "9110 9.3.2",
        get("/traits").replace(b"GET", b"HEAD", 1),
        each(401),
        _OPEN,
        method="HEAD",
        unshaped=True,
    ),
    Case(
        "two HEADs at once",
        "9110 9.3.2",
        get().replace(b"GET", b"HEAD", 1) * 2,
        (frozenset({200, 405}),) * 2,
        _OPEN,
        method="HEAD",
    ),
    Case(
        "HEAD of a bad query",
        "9110 9.3.2",
        get("/resource_providers?bad=1", "X-Auth-Token: admin").replace(b"GET", b"HEAD", 1),
        one_of(400, 405),
        _OPEN,
        method="HEAD",
        unshaped=True,
    ),
]

PIPELINES = [
    Case("10 requests in one packet", "9112 9.3.2", get() * 10, each(*[200] * 10), _OPEN),
    Case("200 requests in one packet", "9112 9.3.2", get() * 200, each(*[200] * 200), _OPEN),
    Case("10 heads that make more than 64 kB", "9112 9.3.2", _PADDED * 10, each(*[200] * 10), _OPEN),
    Case("10 heads in odd pieces", "9112 9.3.2", _PADDED * 10, each(*[200] * 10), _OPEN, piece=777),
    Case(
        "a request and garbage",
        "9112 9.3.2",
        get() + b"\x00\x01garbage\r\n\r\n",
        each(200, 400),
        _CLOSED,
        unshaped=True,
    ),
    Case(
        "a request and half of another",
        "9112 9.3.2",
        get() + get()[:20],
        one_of(200),
        _CLOSED,
        ends=True,
        may_be_silent=True,
    ),
    Case(
        "three requests and a bad one",
        "9112 9.3.2",
        get() * 3 + get(host=None) + get(),
        each(200, 200, 200, 400),
        _CLOSED,
    ),
    Case("nothing after close", "9112 9.6", get("/", "Connection: close") + get(), each(200), _CLOSED),
    Case(
        "a body and the next request",
        "9112 9.3.2",
        create("first") + get(),
        each(200, 200),
        _OPEN,
        leaves="first",
    ),
    Case(
        "chunks and the next request",
        "9112 9.3.2",
        create("second", CHUNKED, body=chunk(document("second")) + LAST) + get(),
        each(200, 200),
        _OPEN,
        leaves="second",
    ),
    Case(
        "a write and garbage",
        "9112 9.3.2",
        create("kept") + b"\x00\x01\r\n\r\n",
        each(200, 400),
        _CLOSED,
        unshaped=True,
        leaves="kept",
    ),
    Case(
        "a refused write and the next request",
        "9112 9.3.2",
        create("refused").replace(b"X-Auth-Token: admin\r\n", b"") + get(),
        each(401, 200),
        _OPEN,
        leaves="!refused",
    ),
    Case(
        "a request hidden in a body",
        "9112 11.2",
        create("hidden", f"Content-Length: {len(get())}", body=get()) + get(),
        each(400, 200),
        _OPEN,
    ),
    Case(
        "a response of each kind",
        "9112 9.3.2",
        get() + get("/nowhere", "X-Auth-Token: admin") + get("/healthz"),
        each(200, 404, 200),
        _OPEN,
    ),
]

CASES = PERSISTENCE + HEAD + PIPELINES
