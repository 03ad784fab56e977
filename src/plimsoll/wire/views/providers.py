# SPDX-License-Identifier: Apache-2.0

"""Providers, with links to all that belongs to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache, partial

import orjson

from plimsoll.domain.provider import Provider
from plimsoll.search.picked import Picked
from plimsoll.wire.answers import last_known
from plimsoll.wire.features import Feature as F
from plimsoll.wire.microversion import Version
from plimsoll.wire.views.kept import OfChunks, Variants, separated

_LINKS = (
    ("inventories", None),
    ("usages", None),
    ("aggregates", F.AGGREGATES),
    ("traits", F.TRAITS),
    ("allocations", F.ALLOCATIONS_LINK),
)

_variants = Variants()


def path_of(uuid: str) -> str:
    return f"/resource_providers/{uuid}"


def provider(one: Provider, version: Version, prefix: str) -> bytes:
    return _encoded(one, links=_links(version), nested=version.has(F.PROVIDER_TREES), prefix=prefix)


def providers(several: Picked, version: Version, prefix: str) -> bytes:
    links, nested = _links(version), version.has(F.PROVIDER_TREES)
    kept = _variants.of((links, nested, prefix), partial(_encoded, links=links, nested=nested, prefix=prefix))
    return b"".join((b'{"resource_providers":[', *separated(kept.of(several)), b"]}"))


def changed(several: Picked) -> Iterator[datetime | None]:
    """When the last of them changed, chunk by chunk; None where that is not known."""
    for part in several.by_chunk():
        yield _last_changes.of(part) if part.is_whole else _last_change(part.providers())


def _last_change(several: Iterable[Provider]) -> datetime | None:
    return last_known(each.modified_at for each in several)


_last_changes = OfChunks(_last_change)


@cache
def _links(version: Version) -> tuple[str, ...]:
    return tuple(name for name, since in _LINKS if since is None or version.has(since))


def _encoded(one: Provider, *, links: tuple[str, ...], nested: bool, prefix: str) -> bytes:
    url = prefix + path_of(one.uuid)
    shown: dict[str, object] = {
        "uuid": one.uuid,
        "name": one.name,
        "generation": one.generation,
        "links": [
            {"rel": "self", "href": url},
            *[{"rel": name, "href": f"{url}/{name}"} for name in links],
        ],
    }
    if nested:
        shown["parent_provider_uuid"] = one.parent
        shown["root_provider_uuid"] = one.root
    return orjson.dumps(shown)
