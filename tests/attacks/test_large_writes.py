# SPDX-License-Identifier: Apache-2.0

"""Points 7 and 12: writes of megabytes through a slow network to PostgreSQL, and into small packets of MariaDB."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url

from tests.attacks.large_writes import add_wide_host, claims
from tests.attacks.target import Target
from tests.support.databases import need
from tests.support.relay import Relay
from tests.support.servers import MariaDB, PostgreSQL

CONSUMERS = 6_000
"""4.7 MB."""


def test_a_write_of_megabytes_passes_a_slow_network(tmp_path: Path) -> None:
    need(PostgreSQL)
    with PostgreSQL(durable=False) as server, Relay(server.host, server.port) as relay:
        server.create_database("attacked")
        url = make_url(server.url("attacked")).set(port=relay.port).render_as_string(hide_password=False)
        with Target(tmp_path, url) as target:
            host = add_wide_host(target)
            response = target.send("POST", "/allocations", claims(host, CONSUMERS), seconds=120)
            assert response.status == 204, response.body[:500]
            assert _used(target, host) == CONSUMERS
            assert target.exceptions() == 0


def test_a_write_of_megabytes_is_split_into_packets(tmp_path: Path) -> None:
    need(MariaDB)
    with MariaDB(durable=False, settings={"max-allowed-packet": "1M"}) as server:
        server.create_database("attacked")
        with Target(tmp_path, server.url("attacked") + "?ssl_disabled=true") as target:
            host = add_wide_host(target)
            response = target.send("POST", "/allocations", claims(host, CONSUMERS), seconds=120)
            if response.status == 204:
                assert _used(target, host) == CONSUMERS
            else:
                assert 400 <= response.status < 500, response.body[:500]
                assert response.has_error_shape
                assert _used(target, host) == 0
            assert target.send("POST", "/allocations", claims(host, 10), seconds=60).status == 204
            assert target.exceptions() == 0


def _used(target: Target, host: str) -> int:
    return int(target.send("GET", f"/resource_providers/{host}/usages").json["usages"]["VCPU"])
