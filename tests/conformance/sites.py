# SPDX-License-Identifier: Apache-2.0

"""The databases of a run: a directory of SQLite files, or a private server of PostgreSQL or MariaDB.

A site creates databases, copies them and drops them. It can be passed to worker processes.
"""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import make_url

from tests.support.servers import MariaDB, PostgreSQL, Server

SERVERS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
ENGINES = ("sqlite", *SERVERS)


class Site(Protocol):
    """A set of databases of one engine. A private server is one."""

    def url(self, database: str) -> str: ...

    def create_database(self, name: str, like: str | None = None) -> None: ...

    def drop_database(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Directory:
    """A site for SQLite: a database is a file."""

    path: Path

    def url(self, database: str) -> str:
        return f"sqlite:///{self._file(database)}"

    def create_database(self, name: str, like: str | None = None) -> None:
        if like:
            shutil.copy(self._file(like), self._file(name))
        else:
            self._file(name).touch()

    def drop_database(self, name: str) -> None:
        for file in self.path.glob(f"{name}.db*"):  # with the -wal and -shm files
            file.unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.db"


@contextlib.contextmanager
def opened(engine: str, directory: Path) -> Iterator[Site]:
    """Open a site of this engine for one run. Servers run without fsync: the data need not survive a power failure."""
    if engine == "sqlite":
        yield Directory(directory)
        return
    with SERVERS[engine](durable=False) as server:
        yield without_process(server)


def without_process(server: Server) -> Server:
    """Return a copy of the server for other processes, which can use it but not stop it."""
    view = copy.copy(server)
    view._process = view._guard = None
    return view


def upstream_url(site: Site, database: str, charset: str = "utf8") -> str:
    """Return the URL of a database in the form that deployments of the reference use; the charset is for MariaDB."""
    url = make_url(site.url(database))
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg2")
    if url.get_backend_name() == "mysql":
        url = url.update_query_dict({"charset": charset})
    return url.render_as_string(hide_password=False)


def scratch_directory(prefix: str) -> Path:
    """Create a temporary directory, in memory if the system has /dev/shm: a run commits thousands of times."""
    shared_memory = Path("/dev/shm")
    parent = shared_memory if os.access(shared_memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=parent))
