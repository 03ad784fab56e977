# SPDX-License-Identifier: Apache-2.0

"""Loopback addresses, and the address of the peer of a connection, independent of proxy headers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.bounded_cache import bounded_cache

_PEER_KEY = "plimsoll.connected_from"


def is_loopback(address: str) -> bool:
    """Return True if only this machine can have this address, as server or as client."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def record_peer_address(app: WSGIApplication) -> WSGIApplication:
    """Wrap the application: store the peer's address before proxy headers, which any client can send, replace it."""

    def middleware(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[_PEER_KEY] = environ.get("REMOTE_ADDR")
        return app(environ, start_response)

    return middleware


def peer_addresses(environ: WSGIEnvironment) -> list[str]:
    """Return the address of the client, and that of the peer if proxy headers have replaced it."""
    return [address for address in (environ.get("REMOTE_ADDR"), environ.get(_PEER_KEY)) if address]


def remote_address(environ: WSGIEnvironment) -> str | None:
    """Return the client's address if it is on another machine, directly or by proxy headers; else None."""
    return _first_remote_address((environ.get("REMOTE_ADDR"), environ.get(_PEER_KEY)))


# Bounded, because clients choose REMOTE_ADDR where proxy headers are parsed.
@bounded_cache(max_entries=1024, max_bytes=512 << 10, max_key_bytes=512)
def _first_remote_address(addresses: tuple[str | None, ...]) -> str | None:
    return next((address for address in addresses if address and not is_loopback(address)), None)
