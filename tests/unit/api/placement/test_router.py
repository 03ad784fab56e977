# SPDX-License-Identifier: Apache-2.0

"""The router: from paths to places and routes."""

import pytest

from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.handlers import classes
from plimsoll.api.placement.microversion import HIGHEST, VERSIONS
from plimsoll.api.placement.route import Route
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES

router = Router(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_found_under_its_path(route: Route) -> None:
    names = [part.strip("{}") for part in route.path.split("/")[2::2]]
    path = route.path
    for name in names:
        path = path.replace(f"{{{name}}}", f"the-{name}")
    found = router.find(path)
    assert found is not None
    place, values = found
    assert route in [place.route(route.method, version) for version in VERSIONS]
    assert values == {name: f"the-{name}" for name in names}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/nope",
            "/resource_providers/",
            "//resource_providers",
            "/resource_providers//inventories",
            "resource_providers",
        ),
        *(
            "/traits/",
            "/traits/A/",
            "/traits/A/B",
            "/resource_providers/u/inventories/VCPU/x",
            "/Traits",
            "//",
        ),
        *("/resource_providers/u/nope", "/resource_providers/u/inventories/", "/reshaper/x"),
    ],
)
def test_a_path_that_matches_only_in_part_is_not_found(path: str) -> None:
    assert router.find(path) is None


@pytest.mark.parametrize(
    ("path", "name"), [("/traits/A\n", "A"), ("/traits/\n", "\n"), ("/traits/A\n\n", "A\n")]
)
def test_one_line_end_at_the_end_of_a_path_is_ignored(path: str, name: str) -> None:
    found = router.find(path)
    assert found is not None
    assert found[1] == {"name": name}


def test_a_place_names_its_methods_in_the_order_of_the_table() -> None:
    found = router.find("/resource_providers/u")
    assert found is not None
    assert found[0].allow == "GET, DELETE, PUT"


def test_the_list_by_owner_is_not_in_the_allow_header() -> None:
    found = router.find("/allocations")
    assert found is not None
    assert found[0].allow == "POST"
    assert found[0].route("GET", HIGHEST) is not None


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PATCH", "get", ""])
def test_methods_that_are_not_in_the_table_have_no_route(method: str) -> None:
    found = router.find("/resource_providers")
    assert found is not None
    assert found[0].route(method, HIGHEST) is None


def test_from_a_feature_on_the_next_route_of_the_path_is_used() -> None:
    found = router.find("/resource_classes/CUSTOM_A")
    assert found is not None
    handlers = [route.handler for version in VERSIONS if (route := found[0].route("PUT", version))]
    change = Feature.ENSURE_RESOURCE_CLASS.minor
    assert handlers == [classes.rename] * change + [classes.ensure] * (len(VERSIONS) - change)
