# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/providers and /plimsoll/v1/providers/{provider}, on each engine."""

from __future__ import annotations

from tests.support.api import Api

HOST = "10000000-0000-0000-0000-000000000001"


def test_a_provider_is_shown_with_everything_about_it(client: Api) -> None:
    client.host(HOST, "host1", VCPU=8)
    shown = client.get("/plimsoll/v1/providers/host1").json
    assert shown["uuid"] == HOST
    assert shown["inventories"]["VCPU"]["capacity"] == 8
