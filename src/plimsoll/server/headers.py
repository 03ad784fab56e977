# SPDX-License-Identifier: Apache-2.0

"""The headers of requests, as WSGI has them."""

from __future__ import annotations

from functools import lru_cache

KEPT = 1 << 13
"""Bytes of headers that a connection keeps for its next request."""

_OF_ANY = 128
"""What the shortest of them takes."""
_CACHED_NAME = 64
"""Names of headers that are longer than this are not cached: clients choose them."""
_CONTENT = {b"content-length": "CONTENT_LENGTH", b"content-type": "CONTENT_TYPE"}


class Headers:
    """Those of one connection, as WSGI has them. A client says much the same with every request, so that is kept.

    Nobody else has it, since there are secrets among them; and it is not much.
    """

    __slots__ = ("_known", "_room")

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bytes], tuple[str, str]] = {}
        self._room = KEPT

    def as_wsgi(self, headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
        try:
            found = dict(map(self._known.__getitem__, headers))
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
            self._keep(name, value, (key, text))
            found[key] = f"{found[key]},{text}" if key in found else text
        return found

    def _keep(self, name: bytes, value: bytes, known: tuple[str, str]) -> None:
        size = _OF_ANY + len(name) + len(value)
        if size > self._room:
            self._known.clear()
            self._room = KEPT
        if size <= KEPT and (name, value) not in self._known:
            self._known[name, value] = known
            self._room -= size


def _key(name: bytes) -> str | None:
    return _cached_key(name) if len(name) <= _CACHED_NAME else _convert(name)


@lru_cache(maxsize=1024)
def _cached_key(name: bytes) -> str | None:
    return _convert(name)


def _convert(name: bytes) -> str | None:
    """The name of a header in a WSGI environment.

    None for a name with an underscore: it would be taken for one with hyphens, which a proxy in front may have removed.
    """
    name = name.lower()
    if b"_" in name:
        return None
    return _CONTENT.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
