# SPDX-License-Identifier: Apache-2.0

"""Descriptions of members: those of a request body state how the service uses the value."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.api.openapi.placement import placement_document
from plimsoll.api.openapi.texts import IGNORED_IF_OPTIONAL, MEMBERS, SENT_MEMBERS
from plimsoll.api.placement.microversion import HIGHEST

NAME = "resource_provider_generation"
PATHS: dict[str, Any] = placement_document(HIGHEST, {}, "/")["paths"]


def body(method: str, path: str) -> Any:
    return PATHS[path][method]["requestBody"]["content"]["application/json"]["schema"]


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("post", "/resource_providers/{uuid}/inventories", IGNORED_IF_OPTIONAL[NAME]),
        ("put", "/resource_providers/{uuid}/inventories", SENT_MEMBERS[NAME]),
        ("put", "/resource_providers/{uuid}/inventories/{resource_class}", SENT_MEMBERS[NAME]),
        ("put", "/resource_providers/{uuid}/traits", SENT_MEMBERS[NAME]),
        ("put", "/resource_providers/{uuid}/aggregates", SENT_MEMBERS[NAME]),
    ],
)
def test_an_optional_generation_of_a_provider_is_described_as_ignored(
    method: str, path: str, text: str
) -> None:
    assert body(method, path)["properties"][NAME]["description"] == text


def test_the_generation_beside_allocations_is_described_as_ignored() -> None:
    allocations = body("put", "/allocations/{consumer_uuid}")["properties"]["allocations"]
    (one,) = allocations["patternProperties"].values()
    assert one["properties"]["generation"]["description"] == SENT_MEMBERS["generation"]


def test_texts_of_request_bodies_differ_from_those_of_responses() -> None:
    assert all(MEMBERS[name] != text for name, text in SENT_MEMBERS.items())
