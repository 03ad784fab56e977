# SPDX-License-Identifier: Apache-2.0

"""Networks whose clients need no token, for a monitoring system that has none."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from wsgiref.types import WSGIEnvironment

from plimsoll.access.loopback import peer_addresses

_PROXY_HEADERS = frozenset(
    {
        "HTTP_FORWARDED",
        "HTTP_VIA",
        "HTTP_X_FORWARDED_FOR",
        "HTTP_X_FORWARDED_HOST",
        "HTTP_X_FORWARDED_PROTO",
        "HTTP_X_REAL_IP",
    }
)
"""Any of them means that the request came through a proxy: then its address is not that of the client."""


class TrustedNetworks:
    def __init__(self, networks: Iterable[str]) -> None:
        """Raise ValueError if a text is not a network."""
        self._networks = [ipaddress.ip_network(each) for each in networks]

    def has_client_of(self, environ: WSGIEnvironment) -> bool:
        """Return whether the client's address is in one of the networks, and the request came without a proxy."""
        if not _PROXY_HEADERS.isdisjoint(environ):
            return False
        addresses = peer_addresses(environ)
        return bool(addresses) and all(map(self._contains, addresses))

    def _contains(self, text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._networks)
