# SPDX-License-Identifier: Apache-2.0

"""Providers, with links to all that belongs to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial

import orjson

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.views.json_cache import (
    JsonCache,
    OfChunks,
    Variants,
    separated,
)
from plimsoll.bounded_cache import bounded_cache
from plimsoll.domain.provider import Provider
from plimsoll.http.response import last_known
from plimsoll.search.index.selection import Selection

_LINKS = (
    ("inventories", None),
    ("usages", None),
    ("aggregates", F.AGGREGATES),
    ("traits", F.TRAITS),
    ("allocations", F.ALLOCATIONS_LINK),
)

_HERE = "\0"
"""Stands for a uuid, and in no path."""

_variants = Variants()

MAX_LINK_BYTES = 4096
"""Of all links of a provider, beyond which its JSON is not cached."""


def path_of(uuid: str) -> str:
    return f"/resource_providers/{uuid}"


def provider(one: Provider, version: Version, prefix: str) -> bytes:
    return _encoded(one, _links((version, prefix)), nested=version.has(F.PROVIDER_TREES))


def providers(
    several: Selection, version: Version, prefix: str, pause: Callable[[], object] = lambda: None
) -> bytes:
    """The list. `pause` is called every 256 providers: to encode 20,000 for the first time takes 120 ms."""
    links, nested = _links((version, prefix)), version.has(F.PROVIDER_TREES)
    encode = partial(_encoded, links=links, nested=nested)
    # The prefix of the links may be text of a client, where proxy headers are parsed.
    is_short = sum(map(len, links)) <= MAX_LINK_BYTES
    kept = _variants.of((links, nested), encode) if is_short else JsonCache(encode)
    return b"".join((b'{"resource_providers":[', *separated(kept.of(several, pause)), b"]}"))


def changed(several: Selection) -> Iterator[datetime | None]:
    """When the last of them changed, chunk by chunk; None where that is not known."""
    for part in several.by_chunk():
        yield _last_changes.of(part) if part.is_whole else _last_change(part.providers())


def _last_change(several: Iterable[Provider]) -> datetime | None:
    return last_known(each.modified_at for each in several)


_last_changes = OfChunks(_last_change)


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _links(version_and_prefix: tuple[Version, str]) -> tuple[bytes, ...]:
    """The links of any provider, encoded; its uuid belongs between them."""
    version, prefix = version_and_prefix
    url = prefix + path_of(_HERE)
    names = [name for name, since in _LINKS if since is None or version.has(since)]
    links = [{"rel": "self", "href": url}, *[{"rel": name, "href": f"{url}/{name}"} for name in names]]
    return tuple(orjson.dumps(links).split(orjson.dumps(_HERE)[1:-1]))


def _encoded(one: Provider, links: tuple[bytes, ...], *, nested: bool) -> bytes:
    uuid = orjson.dumps(one.uuid)
    shown: dict[str, object] = {
        "uuid": orjson.Fragment(uuid),
        "name": one.name,
        "generation": one.generation,
        "links": orjson.Fragment(uuid[1:-1].join(links)),
    }
    if nested:
        shown["parent_provider_uuid"] = one.parent
        shown["root_provider_uuid"] = one.root
    return orjson.dumps(shown)
