# SPDX-License-Identifier: Apache-2.0

"""Points 8 and 9: the parts of requests that a worker caches and logs."""

from __future__ import annotations

import itertools
from contextlib import suppress

import os_traits

from tests.attacks.attack import Outcome, Stop, attack, exchange, receive
from tests.attacks.sockets import request
from tests.attacks.target import Target

_NUMBERS = itertools.count()
PAUSE = 0.005
"""Seconds between two requests. These attacks aim at memory; without a pause they would measure a busy client."""


def refused_project(number: int, length: int = 50_000) -> bytes:
    """Return a request for the usage of another project, with a unique long id."""
    project = f"{number:0>{length}}"
    return request("GET", f"/usages?project_id={project}", None, "x-roles: reader", token="mallory:m")


@attack("9")
def long_projects(target: Target, stop: Stop, outcome: Outcome) -> None:
    with target.connect(20) as connection:
        while not stop.wait(PAUSE):
            connection.send(refused_project(next(_NUMBERS)))
            receive(connection, outcome)


@attack("9")
def long_callers(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Users and projects of 25 kB that occur once."""
    with target.connect(20) as connection:
        while not stop.wait(PAUSE):
            name = f"{next(_NUMBERS):0>25000}"
            connection.send(request("GET", "/traits", token=f"{name}:{name}"))
            receive(connection, outcome)


@attack("9")
def long_header_names(target: Target, stop: Stop, outcome: Outcome) -> None:
    with target.connect(20) as connection:
        while not stop.wait(PAUSE):
            connection.send(request("GET", "/", None, f"x{next(_NUMBERS):0>50000}: a"))
            receive(connection, outcome)


@attack("9")
def many_versions_and_types(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Long values of the headers that are parsed, each once: just below the limits of `MAX_FIELD_BYTES`."""
    with target.connect(20) as connection:
        while not stop.wait(PAUSE):
            number = next(_NUMBERS)
            lines = (f"accept: text/x{number:0>1000}, */*", f"x-roles: r{number:0>4000}")
            connection.send(request("GET", "/resource_providers", None, *lines))
            receive(connection, outcome)


@attack("new")
def many_different_queries(target: Target, stop: Stop, outcome: Outcome) -> None:
    """Unique queries of up to 50 kB: they fill the caches of parsed queries and of responses."""
    traits = ",".join(f"!{name}" for name in os_traits.get_traits())
    with target.connect(60) as connection:
        while not stop.wait(PAUSE):
            number = next(_NUMBERS)
            # The name is decoded and searched for; the longest search that passes the limit for items of lists.
            for path in (
                f"/resource_providers?name={number:0>50000}",
                f"/allocation_candidates?resources=VCPU:1&required={traits}&limit={number + 1}",
            ):
                connection.send(request("GET", path))
                receive(connection, outcome)


FORGED = (
    b"POST /a%0d%0a2026-01-01%2000:00:00.000%201%20ERROR%20forged%20line HTTP/1.1\r\nhost: a\r\n"
    b"content-type: application/json\r\nx-user-id: b\x85c\r\ntransfer-encoding: chunked\r\n\r\n"
    + b"%x\r\n" % 300_000
    + b" " * 300_000
    + b"\r\nzz\r\n"
)
"""A path with encoded line ends, and a bad chunk after 300 kB."""


@attack("8")
def forged_log_lines(target: Target, stop: Stop, outcome: Outcome) -> None:
    while not stop.is_set():
        with suppress(OSError):
            exchange(target, FORGED, outcome)
        if stop.wait(0.02):
            return
