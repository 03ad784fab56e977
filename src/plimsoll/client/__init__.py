# SPDX-License-Identifier: Apache-2.0

"""A synchronous client for the v1 API: `connect` chooses service and credentials, `V1Client` sends requests.

It imports nothing of the service, so a program on another machine can use it.
"""

from __future__ import annotations

from plimsoll.client.errors import ClientFailure, RefusedRequest, UnreachableService
from plimsoll.client.follow import FeedLost, Loaded, ReloadNeeded, follow, load
from plimsoll.client.target import NoService, Target, connect
from plimsoll.client.v1_client import ExplainedText, V1Client

__all__ = [
    "ClientFailure",
    "ExplainedText",
    "FeedLost",
    "Loaded",
    "NoService",
    "RefusedRequest",
    "ReloadNeeded",
    "Target",
    "UnreachableService",
    "V1Client",
    "connect",
    "follow",
    "load",
]
