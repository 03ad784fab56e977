# SPDX-License-Identifier: Apache-2.0

"""Entity tags of responses, and the header `If-None-Match`, by which a client gets a 304 for a body that it has."""

from __future__ import annotations

from hashlib import blake2b


def entity_tag(content: bytes) -> str:
    """Return the entity tag of a body: a hash of it, with its quotation marks."""
    return f'"{blake2b(content, digest_size=12).hexdigest()}"'


def is_matched(etag: str | None, if_none_match: str | None) -> bool:
    """Return whether the header `If-None-Match` has this entity tag, by weak comparison, or is `*`."""
    if etag is None or if_none_match is None:
        return False
    listed = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag.removeprefix("W/") in listed or listed == ["*"]
