# SPDX-License-Identifier: Apache-2.0

"""The limits and deadlines of the HTTP server, which bound the cost of one client for a worker.

docs/internals/http-server.md has each of them with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_HEAD_BYTES = 1 << 16
"""Bytes of a request's first line and headers. A token of Keystone may take several thousand."""
MAX_HEADERS = 200
MAX_PATH_BYTES = 1 << 12
"""Bytes of the path of a URL. The longest one that a route has contains a name of 200 characters."""
MAX_PARAMETERS = 500
"""Parameters of a query string. Each takes about 2 microseconds to parse, in one step."""
MAX_LIST_ITEMS = 1_000
"""Commas in a query string: items of lists of traits, classes or aggregates. Each takes about 10 microseconds to check."""
MAX_ESCAPES = 4_000
"""Percent-encoded bytes of a URL. Each takes about a microsecond to decode, also in one step."""
MAX_FIELD_BYTES = {
    b"accept": 1 << 10,
    b"accept-encoding": 1 << 10,
    b"if-none-match": 1 << 10,
    b"x-roles": 1 << 12,
}
"""Bytes of headers that are lists. Their items are parsed one by one, in one step: 60 kB of Accept take 100 ms."""
MAX_CHUNK_OVERHEAD = 16
"""Bytes that may arrive for each byte of a chunked body. A chunk of one byte takes six."""
RECEIVE_BYTES = 1 << 12
"""Bytes that are received at a time. After each of these pieces other connections are served.

Chunks of one byte are the most expensive: 4 kB of them are parsed in about a millisecond."""
JOINED_BYTES = 1 << 16
"""A longer response body is sent after its head instead of being joined with it."""
LARGE_BYTES = 1 << 20
"""After a body of this size, freed memory is returned to the system."""
DRAIN_FACTOR = 8
"""An unused body of up to this many times `max_body_bytes` is read to its end, so that the connection stays open."""
RATE_GRACE_SECONDS = 5.0
"""Seconds before `min_transfer_rate`, an average, is enforced."""
LINGER_SECONDS = 2.0
"""Seconds to keep reading from a connection that is closed while its client still sends, so that the client gets the
response."""
MAX_CONNECTIONS = 16_384
"""Connections of one worker. Each host of a cloud keeps one open. Beyond that, the one that is idle longest is closed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that are settings, in `[plimsoll]`."""

    threads: int = 16
    """Requests that a worker processes at a time."""
    queue_timeout: float = 30.0
    """Seconds that a request waits to be processed."""
    max_body_bytes: int = 10 << 20
    max_buffered_bytes: int = 32 << 20
    """Limit for all request bodies that are incomplete, and the same for all responses that wait for slow clients."""
    keep_alive_timeout: float = 75.0
    """Seconds between two requests. Nova's hosts report once a minute, so that their connections stay open."""
    request_timeout: float = 60.0
    """Seconds in which a request must arrive, from its first byte to its last."""
    min_transfer_rate: int = 1024
    """Bytes per second, both of a request that arrives and of a response that is sent."""
    worker_timeout: float = 30.0
    """Seconds after which a worker that does not react is replaced; 0 for never."""
