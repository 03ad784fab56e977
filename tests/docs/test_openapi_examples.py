# SPDX-License-Identifier: Apache-2.0

"""The examples of the OpenAPI documents are what a real service answers on the sample cloud."""

from __future__ import annotations

from plimsoll.api.openapi.examples import DIRECTORY
from plimsoll.api.v1.routes import ROUTES
from tests.docs.openapi_examples import V1_PATHS, WITHOUT_EXAMPLE, generated


def test_the_examples_are_up_to_date() -> None:
    for name, text in generated().items():
        assert (DIRECTORY / name).read_text() == text, "run `make docs`"


def test_every_route_of_the_plimsoll_api_has_an_example() -> None:
    assert {route.name for route in ROUTES} == V1_PATHS.keys() | WITHOUT_EXAMPLE
