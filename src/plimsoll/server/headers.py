# SPDX-License-Identifier: Apache-2.0

"""Conversion of request headers to keys and values of a WSGI environment."""

from __future__ import annotations

from functools import lru_cache

MAX_CACHED_BYTES = 1 << 13
"""Bytes of headers that a connection caches for its next requests."""

_ENTRY_BYTES = 128
"""Bytes that an entry takes besides its name and value."""
_CACHED_NAME = 64
"""Names of headers that are longer than this are not cached: clients choose them."""
_CONTENT = {b"content-length": "CONTENT_LENGTH", b"content-type": "CONTENT_TYPE"}


class HeaderCache:
    """Converts the headers of one connection, and caches the results: clients repeat most headers in each request.

    The cache is not shared with other connections, because headers contain secrets. It has at most `MAX_CACHED_BYTES`.
    """

    __slots__ = ("_cache", "_free_bytes")

    def __init__(self) -> None:
        self._cache: dict[tuple[bytes, bytes], tuple[str, str]] = {}
        self._free_bytes = MAX_CACHED_BYTES

    def as_wsgi(self, headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
        try:
            found = dict(map(self._cache.__getitem__, headers))
        except KeyError:
            return self._read(headers)
        return found if len(found) == len(headers) else self._read(headers)

    def _read(self, headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in headers:
            key = _key(name)
            if key is None:
                continue
            text = value.decode("latin-1").rstrip(" \t")
            self._store(name, value, (key, text))
            found[key] = f"{found[key]},{text}" if key in found else text
        return found

    def _store(self, name: bytes, value: bytes, known: tuple[str, str]) -> None:
        size = _ENTRY_BYTES + len(name) + len(value)
        if size > self._free_bytes:
            self._cache.clear()
            self._free_bytes = MAX_CACHED_BYTES
        if size <= MAX_CACHED_BYTES and (name, value) not in self._cache:
            self._cache[name, value] = known
            self._free_bytes -= size


def _key(name: bytes) -> str | None:
    return _cached_key(name) if len(name) <= _CACHED_NAME else _convert(name)


@lru_cache(maxsize=1024)
def _cached_key(name: bytes) -> str | None:
    return _convert(name)


def _convert(name: bytes) -> str | None:
    """Return the key of a header in a WSGI environment.

    None for a name with an underscore: its key would equal that of a header with hyphens, which a proxy may have removed.
    """
    name = name.lower()
    if b"_" in name:
        return None
    return _CONTENT.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
