# SPDX-License-Identifier: Apache-2.0

"""Point 14: all rows of the HTTP conformance table, again and again, and reloads meanwhile."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from tests.attacks.attack import Outcome, Stop, attack, receive
from tests.attacks.rfc import chunks, connections, fields, lengths, request_lines
from tests.attacks.target import Target

CASES = [*request_lines.CASES, *fields.CASES, *lengths.CASES, *chunks.CASES, *connections.CASES]
"""The HTTP conformance table."""


@attack("14")
def http_table(target: Target, stop: Stop, outcome: Outcome) -> None:
    while not stop.is_set():
        for case in CASES:
            if stop.wait(0.002):
                return
            with suppress(OSError), target.connect(2) as connection:
                connection.try_send(case.sent)
                connection.end_sending()
                for _ in case.expected:
                    receive(connection, outcome, case.method)


@attack("new")
def reloads(target: Target, stop: Stop, outcome: Outcome) -> None:
    """The service is reloaded again and again while requests go on."""
    while not stop.wait(2.0):
        os.kill(target.pid, signal.SIGHUP)
