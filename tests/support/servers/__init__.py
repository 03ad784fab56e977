# SPDX-License-Identifier: Apache-2.0

"""Private database servers, started by tests from the installed binaries, so that tests can kill them.

Each has a directory and a port of its own, touches nothing of the machine's own servers, and leaves nothing
behind, not even when the tests themselves are killed. Where a program is missing, `Missing` says which.

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
