# SPDX-License-Identifier: Apache-2.0

"""Ids of requests. Operators search the log for them."""

from __future__ import annotations

import random

REQUEST_ID_KEY = "openstack.request_id"
"""Key of the WSGI environment: the id of the request."""
REQUEST_ID_HEADER = "x-openstack-request-id"


def new_request_id() -> str:
    """Return `req-` and a random uuid. It is no secret: the random generator need not be cryptographic."""
    digits = f"{random.getrandbits(128):032x}"
    return f"req-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
