# SPDX-License-Identifier: Apache-2.0

"""Documents are built once; the URL of the service is inserted for each request."""

from __future__ import annotations

import json

from plimsoll.api.openapi import library
from plimsoll.api.placement.microversion import HIGHEST, VERSIONS
from plimsoll.api.v1.routes import ROUTES


def test_a_document_is_built_once_and_yields_to_other_requests() -> None:
    library._cache.put("other", library.Encoded(b"", b"", ""))
    library._cache.drop_oldest_while(lambda _: True)
    pauses: list[None] = []
    first = library.placement_json(HIGHEST, lambda: pauses.append(None))
    assert len(pauses) > 30
    assert library.placement_json(HIGHEST, lambda: pauses.append(None)) is first
    assert len(pauses) < 60


def test_the_prefix_is_the_server_and_part_of_the_entity_tag() -> None:
    encoded = library.v1_json(ROUTES, lambda: None)
    assert json.loads(encoded.body(""))["servers"] == [{"url": "/"}]
    assert json.loads(encoded.body("/placement"))["servers"] == [{"url": "/placement"}]
    assert encoded.etag("") != encoded.etag("/placement")


def test_all_documents_fit_into_the_cache() -> None:
    for version in VERSIONS:
        library.placement_json(version, lambda: None)
    library.v1_json(ROUTES, lambda: None)
    assert len(library._cache) == len(VERSIONS) + 1
