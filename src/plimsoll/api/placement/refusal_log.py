# SPDX-License-Identifier: Apache-2.0

"""Log refusals: one line with the facts of each refused write."""

from __future__ import annotations

import logging
from wsgiref.types import WSGIEnvironment

from plimsoll.domain.refusals import CapacityExceeded, Refusal
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten

LOG = logging.getLogger(__name__)


def log_refusal(refusal: Refusal, problem: Problem, environ: WSGIEnvironment) -> None:
    """Log a claim that exceeds a capacity as WARNING, any other refused write as INFO.

    Refused reads are not logged: clients often read providers that do not exist.
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
        LOG.debug("Error response: %s", _line(problem, environ))


def _line(problem: Problem, environ: WSGIEnvironment) -> str:
    method = shorten(environ["REQUEST_METHOD"], LONGEST_QUOTE)
    path = shorten(environ.get("PATH_INFO", ""), LONGEST_QUOTE)
    return f"{method} {path}: {problem.status} {problem.code}: {problem.detail}"
