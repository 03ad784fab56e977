# SPDX-License-Identifier: Apache-2.0

"""A difference to be explained: the request, both answers, and what was known when it was sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.compare import Verdict
from tests.differential.requests import Request
from tests.differential.servers import Answer
from tests.differential.state import State


@dataclass(frozen=True, slots=True)
class Case:
    """A request with both answers, the state it met, and a way to ask the reference something else."""

    request: Request
    reference: Answer
    ours: Answer
    verdict: Verdict
    state: State
    ask_reference: Callable[[Request], Answer]
    against_reference: bool = False
