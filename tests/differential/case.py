# SPDX-License-Identifier: Apache-2.0

"""A difference between two responses, with the data that a known fault needs to explain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.compare import Verdict
from tests.differential.requests import Request
from tests.differential.servers import Response
from tests.differential.state import State


@dataclass(frozen=True, slots=True)
class Case:
    """A request, both responses, the state before it, and a function that sends other requests to the reference."""

    request: Request
    reference: Response
    ours: Response
    verdict: Verdict
    state: State
    send_to_reference: Callable[[Request], Response]
    against_reference: bool = False
