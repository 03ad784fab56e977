# SPDX-License-Identifier: Apache-2.0

"""Point 3: trailers are no headers, and are limited."""

from __future__ import annotations

from contextlib import suppress

from tests.attacks.attack import Outcome, Stop, attack
from tests.attacks.target import Target

BODY = b'{"name": "trailed"}'
MEGABYTES = 40


def in_chunks(*lines: str, trailers: bytes = b"") -> bytes:
    """A POST of a provider whose body comes in one chunk, with these header lines and trailers."""
    head = ["POST /resource_providers HTTP/1.1", "host: a", "content-type: application/json", *lines]
    framed = b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)
    return "\r\n".join([*head, "transfer-encoding: chunked", "", ""]).encode() + framed + trailers + b"\r\n"


@attack("3")
def long_trailers(target: Target, stop: Stop, outcome: Outcome) -> None:
    """40 MB of trailers on each connection, as long as the server takes them."""
    part = b"".join(b"x-%d: %s\r\n" % (number, b"a" * 40) for number in range(2_000))
    begin = in_chunks()[:-2]
    while not stop.is_set():
        with suppress(OSError), target.connect(10) as connection:
            connection.try_send(begin)
            sent = 0
            while not stop.is_set() and sent < MEGABYTES << 20 and connection.try_send(part):
                sent += len(part)
            outcome.closed += 1
            outcome.longest = max(outcome.longest, sent)
