# SPDX-License-Identifier: Apache-2.0

"""Log refusals: one line with the facts, so that an operator need not ask the client."""

from __future__ import annotations

import logging
from wsgiref.types import WSGIEnvironment

from plimsoll.domain.refusals import CapacityExceeded, Refusal
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shortened

LOG = logging.getLogger(__name__)


def log_refusal(refusal: Refusal, problem: Problem, environ: WSGIEnvironment) -> None:
    """Log a claim that exceeds a capacity as WARNING, any other refused write as INFO.

    Reads that find nothing are left out: clients probe for providers all the time.
    """
    if isinstance(refusal, CapacityExceeded):
        LOG.warning(
            "Over capacity for %s on resource provider %s (%s). Asked: %s, used: %s, capacity: %s",
            refusal.resource_class,
            refusal.provider_name,
            refusal.provider,
            refusal.asked,
            refusal.used,
            refusal.capacity,
        )
    elif environ["REQUEST_METHOD"] != "GET":
        LOG.info("Refused: %s", _line(problem, environ))


def log_problem(problem: Problem, environ: WSGIEnvironment) -> None:
    """Log the detail of a 4xx at DEBUG."""
    if LOG.isEnabledFor(logging.DEBUG):
        LOG.debug("Answered: %s", _line(problem, environ))


def _line(problem: Problem, environ: WSGIEnvironment) -> str:
    method = shortened(environ["REQUEST_METHOD"], LONGEST_QUOTE)
    path = shortened(environ.get("PATH_INFO", ""), LONGEST_QUOTE)
    return f"{method} {path}: {problem.status} {problem.code}: {problem.detail}"
