# SPDX-License-Identifier: Apache-2.0

"""Routes that read memory send the query for the head before the policy; the others send none of their own."""

from plimsoll.api.placement.routes import ROUTES


def test_every_get_reads_memory_except_those_of_allocations_and_versions() -> None:
    others = {route.path for route in ROUTES if route.method == "GET" and not route.reads_memory}
    assert others == {
        "",
        "/",
        "/allocations",
        "/allocations/{consumer_uuid}",
        "/resource_providers/{uuid}/allocations",
    }


def test_no_write_reads_memory_before_its_checks() -> None:
    assert not [route.name for route in ROUTES if route.method != "GET" and route.reads_memory]
