# SPDX-License-Identifier: Apache-2.0

"""Which addresses are of this machine alone, and which one a connection came from, whatever a header says."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.bounded_cache import bounded_cache

_CONNECTED = "plimsoll.connected_from"


def is_loopback(address: str) -> bool:
    """Can nobody but this machine have this address, as a server's or as a caller's?"""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def noting_who_connected(app: WSGIApplication) -> WSGIApplication:
    """To be put before what takes the address of the caller from a header, which anybody can write."""

    def noted(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[_CONNECTED] = environ.get("REMOTE_ADDR")
        return app(environ, start_response)

    return noted


def stranger(environ: WSGIEnvironment) -> str | None:
    """The address of who asks from another machine, be it directly or through a proxy that says so."""
    return _stranger((environ.get("REMOTE_ADDR"), environ.get(_CONNECTED)))


# REMOTE_ADDR is text of the client where proxy headers are parsed.
@bounded_cache(max_entries=1024, max_bytes=512 << 10, max_key_bytes=512)
def _stranger(addresses: tuple[str | None, ...]) -> str | None:
    return next((address for address in addresses if address and not is_loopback(address)), None)
