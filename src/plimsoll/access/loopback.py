# SPDX-License-Identifier: Apache-2.0

"""Which addresses are of this machine alone."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=1024)
def is_loopback(address: str) -> bool:
    """Can nobody but this machine have this address, as a server's or as a caller's?"""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)
