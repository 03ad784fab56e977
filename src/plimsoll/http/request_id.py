# SPDX-License-Identifier: Apache-2.0

"""Ids of requests. Operators search the log for them."""

from __future__ import annotations

import random
import re
from wsgiref.types import WSGIEnvironment

REQUEST_ID_KEY = "openstack.request_id"
"""Key of the WSGI environment: the id of the request."""
REQUEST_ID_HEADER = "x-openstack-request-id"

_GLOBAL_ID = re.compile(r"req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}")


def global_request_id(environ: WSGIEnvironment) -> str | None:
    """Return the id that the client has sent, if it has the form of one: it is the same for all services."""
    given = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
    return given if given and _GLOBAL_ID.fullmatch(given) else None


def new_request_id() -> str:
    """Return `req-` and a random uuid. It is no secret: the random generator need not be cryptographic."""
    digits = f"{random.getrandbits(128):032x}"
    return f"req-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
