# SPDX-License-Identifier: Apache-2.0

"""A Placement in plain Python, written from the API's rules alone: the auditor's expected behaviour.

`respond` returns the response to a request in a state, and the next state. States are immutable, so the auditor can
hold many of them and backtrack.
"""

from tests.audit.model.responses import Response, fits
from tests.audit.model.routes import respond
from tests.audit.model.state import EMPTY, State

__all__ = ["EMPTY", "Response", "State", "fits", "respond"]
