# SPDX-License-Identifier: Apache-2.0

"""Encoded pieces, kept until what they describe changes.

Providers are frozen: while the object is the same, so is what was made of it. A piece costs a dictionary look-up
the second time, which is what makes answers with thousands of providers quick.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from plimsoll.domain.provider import Provider

MOST_PIECES = 200_000
MOST_VARIANTS = 16


class Kept:
    """One piece for each provider, made by `encode`. Threads may share it: at worst a piece is made twice."""

    __slots__ = ("_encode", "_pieces")

    def __init__(self, encode: Callable[[Provider], bytes]) -> None:
        self._encode = encode
        self._pieces: dict[str, tuple[Provider, bytes]] = {}

    def of(self, providers: Iterable[Provider]) -> list[bytes]:
        pieces, made = self._pieces, []
        for provider in providers:
            known = pieces.get(provider.uuid)
            if known is not None and known[0] is provider:
                made.append(known[1])
            else:
                made.append(self._make(provider))
        return made

    def _make(self, provider: Provider) -> bytes:
        if len(self._pieces) >= MOST_PIECES:
            self._pieces = {}
        piece = self._encode(provider)
        self._pieces[provider.uuid] = (provider, piece)
        return piece


class Variants:
    """Kept pieces for each way to show a provider. There are few; should clients find many, all start anew."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Kept] = {}

    def of(self, variant: Hashable, encode: Callable[[Provider], bytes]) -> Kept:
        kept = self._kept.get(variant)
        if kept is None:
            if len(self._kept) >= MOST_VARIANTS:
                self._kept = {}
            kept = self._kept[variant] = Kept(encode)
        return kept
