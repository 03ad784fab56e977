# SPDX-License-Identifier: Apache-2.0

"""Conversion of request headers to keys and values of a WSGI environment."""

from __future__ import annotations

from functools import lru_cache

_CACHED_NAME = 64
"""Names of headers that are longer than this are not cached: clients choose them."""
_CONTENT = {b"content-length": "CONTENT_LENGTH", b"content-type": "CONTENT_TYPE"}


def as_wsgi(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Convert headers to the part of a WSGI environment that they make. Values of equal names are joined by commas."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = _cached_key(name) if len(name) <= _CACHED_NAME else _key(name)
        if key is not None:
            text = value.decode("latin-1").rstrip(" \t")
            found[key] = f"{found[key]},{text}" if key in found else text
    return found


def _key(name: bytes) -> str | None:
    """Return the key of a header in a WSGI environment.

    None for a name with an underscore: its key would equal that of a header with hyphens, which a proxy may have removed.
    """
    name = name.lower()
    if b"_" in name:
        return None
    return _CONTENT.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


_cached_key = lru_cache(maxsize=1024)(_key)
