# SPDX-License-Identifier: Apache-2.0

"""Private database servers, started from the installed binaries, so that tests can kill them.

Each has its own directory and port, is independent of the machine's own servers, and is removed completely, even when
the tests themselves are killed. `Missing` names a program that is not installed.

    with PostgreSQL() as server:
        server.create_database("placement")
        Database(server.url("placement"))
        server.kill()
        server.start()
"""

from tests.support.servers.galera import GaleraCluster
from tests.support.servers.mariadb import MariaDB
from tests.support.servers.postgresql import PostgreSQL
from tests.support.servers.programs import Missing
from tests.support.servers.server import Server, ServerFailed

__all__ = ["GaleraCluster", "MariaDB", "Missing", "PostgreSQL", "Server", "ServerFailed"]
