# SPDX-License-Identifier: Apache-2.0

"""A private server to be ill-treated, and fresh databases on it that a service can start on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import make_url

from plimsoll.ledger.ledger import Ledger
from plimsoll.service import standards
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.faults.proxy import Proxy
from tests.faults.strangers import Stranger
from tests.support.servers import Server

ORIGINAL = "original"


class Ground:
    """One server, durable as an operator's is: what was committed survives a kill."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.engine = server.engine
        self._numbers = itertools.count(1)
        server.create_database(ORIGINAL)
        make_ready(self.url(ORIGINAL))

    def url(self, name: str) -> str:
        return plain(self.server.url(name))

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a database with the tables and the standard names, and nothing else."""
        name = f"placement_{next(self._numbers)}"
        self.server.create_database(name, ORIGINAL)
        try:
            yield self.url(name)
        finally:
            Stranger(self.server, self.url(name)).end_all()
            self.server.drop_database(name)

    @contextmanager
    def proxy(self) -> Iterator[Proxy]:
        with Proxy(self.engine, self.server.host, self.server.port) as proxy:
            yield proxy


def through(proxy: Proxy, url: str) -> str:
    """The same database, reached through the proxy."""
    parsed = make_url(url).set(host="127.0.0.1", port=proxy.port)
    return parsed.render_as_string(hide_password=False)


def plain(url: str) -> str:
    """Without encryption, which a proxy could not read, and which costs PyMySQL 30 ms a connection."""
    return url + (
        "?sslmode=disable&gssencmode=disable" if url.startswith("postgresql") else "?ssl_disabled=true"
    )


def make_ready(url: str) -> None:
    database = Database(url)
    migrate.sync(database)
    standards.synchronise(Placement(Ledger(database)))
    database.dispose()
