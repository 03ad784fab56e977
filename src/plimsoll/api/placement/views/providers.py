# SPDX-License-Identifier: Apache-2.0

"""Providers, with links to their inventories, usages, aggregates, traits and allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache, partial

import orjson

from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import Version
from plimsoll.api.placement.views.json_cache import ChunkCache, JsonCache, with_commas
from plimsoll.bounded_cache import bounded_cache
from plimsoll.domain.provider import Provider
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.http.response import latest_or_none
from plimsoll.search.index.selection import Selection

_LINKS = (
    ("inventories", None),
    ("usages", None),
    ("aggregates", F.AGGREGATES),
    ("traits", F.TRAITS),
    ("allocations", F.ALLOCATIONS_LINK),
)

_UUID_PLACEHOLDER = "\0"
"""Stands for the uuid in links. It occurs in no path."""

MAX_LINK_BYTES = 4096
"""Bytes of the links of a provider. If there are more, its JSON is not cached."""


def path_of(uuid: str) -> str:
    return f"/resource_providers/{uuid}"


def provider(one: Provider, version: Version, prefix: str) -> bytes:
    return _encoded(one, _links((version, prefix)), nested=version.has(F.PROVIDER_TREES))


def providers(
    several: Selection,
    version: Version,
    prefix: str,
    pause: Callable[[], object] = lambda: None,
    fast_paths: FastPaths = ALL,
) -> bytes:
    """Return the list as JSON. `pause` is called every 256 providers: the first encoding of 20,000 takes 120 ms."""
    links, nested = _links((version, prefix)), version.has(F.PROVIDER_TREES)
    # With proxy headers enabled, a client can choose the prefix of the links, and so their length.
    is_cached = fast_paths.json_cache and sum(map(len, links)) <= MAX_LINK_BYTES
    cache = (_shared_json_cache if is_cached else _new_json_cache)(links, nested)
    return b"".join((b'{"resource_providers":[', *with_commas(cache.of(several, pause)), b"]}"))


def _new_json_cache(links: tuple[bytes, ...], nested: bool) -> JsonCache:
    return JsonCache(partial(_encoded, links=links, nested=nested))


_shared_json_cache = lru_cache(maxsize=16)(_new_json_cache)


def modification_times(several: Selection) -> Iterator[datetime | None]:
    """Yield the last modification time of each chunk; None where it is not stored."""
    for part in several.by_chunk():
        yield _last_change_of_chunks.of(part) if part.is_whole else _last_change(part.providers())


def _last_change(several: Iterable[Provider]) -> datetime | None:
    return latest_or_none(each.modified_at for each in several)


_last_change_of_chunks = ChunkCache(_last_change)


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _links(version_and_prefix: tuple[Version, str]) -> tuple[bytes, ...]:
    """Return the links of a provider as JSON, split where its uuid is to be inserted."""
    version, prefix = version_and_prefix
    url = prefix + path_of(_UUID_PLACEHOLDER)
    names = [name for name, since in _LINKS if since is None or version.has(since)]
    links = [{"rel": "self", "href": url}, *[{"rel": name, "href": f"{url}/{name}"} for name in names]]
    return tuple(orjson.dumps(links).split(orjson.dumps(_UUID_PLACEHOLDER)[1:-1]))


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
