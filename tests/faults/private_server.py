# SPDX-License-Identifier: Apache-2.0

"""A database server that only one test run uses, so that tests may kill it, and new databases on it."""

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
from tests.faults.administrator import Administrator
from tests.faults.proxy import Proxy
from tests.support.servers import Server

TEMPLATE = "template_placement"


class PrivateServer:
    """One server with durable commits, as in production: they survive a kill."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.engine = server.engine
        self._numbers = itertools.count(1)
        server.create_database(TEMPLATE)
        prepare_database(self.url(TEMPLATE))

    def url(self, name: str) -> str:
        return unencrypted_url(self.server.url(name))

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new database with the tables and the standard names."""
        name = f"placement_{next(self._numbers)}"
        self.server.create_database(name, TEMPLATE)
        try:
            yield self.url(name)
        finally:
            Administrator(self.server, self.url(name)).terminate_all()
            self.server.drop_database(name)

    @contextmanager
    def proxy(self) -> Iterator[Proxy]:
        with Proxy(self.engine, self.server.host, self.server.port) as proxy:
            yield proxy


def proxied_url(proxy: Proxy, url: str) -> str:
    """Return the URL of the same database through the proxy."""
    parsed = make_url(url).set(host="127.0.0.1", port=proxy.port)
    return parsed.render_as_string(hide_password=False)


def unencrypted_url(url: str) -> str:
    """Return the URL without encryption, which the proxy cannot read, and which costs PyMySQL 30 ms per connection."""
    return url + (
        "?sslmode=disable&gssencmode=disable" if url.startswith("postgresql") else "?ssl_disabled=true"
    )


def prepare_database(url: str) -> None:
    """Create the tables and the standard names, so that a service can start on this database."""
    database = Database(url)
    migrate.sync(database)
    standards.synchronise(Placement(Ledger(database)))
    database.dispose()
