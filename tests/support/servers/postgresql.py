# SPDX-License-Identifier: Apache-2.0

"""A private PostgreSQL server."""

from __future__ import annotations

import signal
import subprocess
from typing import ClassVar

import psycopg

from tests.support.servers import programs
from tests.support.servers.server import Server

DIRECTORIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    # Shared memory in the data directory, which is removed even if the server was killed.
    "dynamic_shared_memory_type": "mmap",
    "lc_messages": "C",
}
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


class PostgreSQL(Server):
    engine: ClassVar[str] = "postgresql"
    user: ClassVar[str] = "postgres"
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT  # "fast": it does not wait for clients

    @classmethod
    def missing(cls) -> str | None:
        try:
            programs.find("initdb", *DIRECTORIES)
            programs.find("postgres", *DIRECTORIES)
            programs.account(cls.user)
        except programs.Missing as missing:
            return str(missing)
        return None

    def url(self, database: str) -> str:
        return f"postgresql://postgres@{self.host}:{self.port}/{database}"

    def connect(self, database: str | None = None) -> psycopg.Connection:
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user="postgres",
            dbname=database or "postgres",
            autocommit=True,
            connect_timeout=10,
        )

    def create_database(self, name: str, like: str | None = None) -> None:
        self.run_sql(f'CREATE DATABASE "{name}" TEMPLATE "{like or "template1"}"')

    def drop_database(self, name: str) -> None:
        self.run_sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def remove(self) -> None:
        # A killed server leaves a System V shared memory segment. Its id is in postmaster.pid.
        lock = self.data / "postmaster.pid"
        lines = lock.read_text().splitlines() if lock.exists() else []
        super().remove()
        if len(lines) > 6:
            subprocess.run(["ipcrm", "-m", lines[6].split()[1]], capture_output=True, check=False)

    def _initialise(self) -> None:
        self._run(
            programs.find("initdb", *DIRECTORIES),
            f"--pgdata={self.data}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )

    def _command(self) -> list[str]:
        settings = (
            SETTINGS
            | ({} if self._durable else NOT_DURABLE)
            | {"port": str(self.port)}
            | self._extra_settings
        )
        options = [f"{name}={value}" for name, value in settings.items()]
        program = str(programs.find("postgres", *DIRECTORIES))
        return [
            program,
            "-D",
            str(self.data),
            *(argument for option in options for argument in ("-c", option)),
        ]
