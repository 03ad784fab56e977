# SPDX-License-Identifier: Apache-2.0

"""The error response of an exception that no handler catches: a fault of the database, or an unexpected error."""

from __future__ import annotations

import logging
from wsgiref.types import WSGIEnvironment

from plimsoll.api.placement.error_tables import VALUE_NOT_STORABLE
from plimsoll.http.problems import Problem
from plimsoll.service.placement import (
    ConstraintFailed,
    DatabaseFault,
    OutcomeUnknown,
    StatementTooLong,
    ValueNotStorable,
)

LOG = logging.getLogger(__name__)

_CONSTRAINT_FAILED = (
    "A CHECK constraint of the database refused the values of this request. The constraint is not part of Placement;"
    " the service has logged its name. Nothing was changed."
)
_UNEXPECTED = "An unexpected error occurred. The log of the service has more about this request."


def problem_of_failure(failure: Exception, environ: WSGIEnvironment) -> Problem:
    """Log an error of the database, or one that is not expected, and return its error response."""
    method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO")
    match failure:
        case DatabaseFault():
            # An outage has its own lines in the log. A request with an unknown outcome is logged as well.
            is_logged = failure.is_outage and not isinstance(failure, OutcomeUnknown)
            level, problem = logging.DEBUG if is_logged else logging.ERROR, _unavailable(failure)
        case StatementTooLong():
            level, problem = logging.INFO, Problem(413, str(failure))
        case ConstraintFailed():
            level, problem = logging.WARNING, Problem(400, _CONSTRAINT_FAILED)
        case ValueNotStorable():
            level, problem = logging.INFO, Problem(400, VALUE_NOT_STORABLE)
        case _:
            LOG.error("Unexpected error on %s %s", method, path, exc_info=failure)
            return Problem(500, _UNEXPECTED)
    LOG.log(level, "%s %s: %s", method, path, failure)
    return problem


def _unavailable(fault: DatabaseFault) -> Problem:
    """Return the 503 for a database fault, with the time after which the client should retry."""
    outcome = (
        "The request may or may not have been carried out: check before you repeat it."
        if isinstance(fault, OutcomeUnknown)
        else "Nothing was changed. Try again."
    )
    return Problem(503, f"{fault.summary} {outcome}", retry_after=fault.retry_after)
