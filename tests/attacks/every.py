# SPDX-License-Identifier: Apache-2.0

"""All attacks: importing the modules registers them."""

from tests.attacks import (
    error_texts,
    http_details,
    keystone,
    large_writes,
    memory,
    searches,
    slow_clients,
    trailers,
    v1_requests,
    validation,
)
from tests.attacks.attack import ATTACKS

__all__ = [
    "ATTACKS",
    "error_texts",
    "http_details",
    "keystone",
    "large_writes",
    "memory",
    "searches",
    "slow_clients",
    "trailers",
    "v1_requests",
    "validation",
]
