# SPDX-License-Identifier: Apache-2.0

"""A Placement in plain Python, written from the API's rules alone: what the auditor expects of the real one.

`respond` answers a request in a world and says which world it leaves. Worlds never change, so that the auditor
can hold many of them and go back.
"""

from tests.audit.model.answers import Said, fits
from tests.audit.model.routes import respond
from tests.audit.model.world import EMPTY, World

__all__ = ["EMPTY", "Said", "World", "fits", "respond"]
