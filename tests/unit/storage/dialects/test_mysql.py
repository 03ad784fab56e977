# SPDX-License-Identifier: Apache-2.0

"""Messages to MariaDB and MySQL: an abort between two statements must not commit the rest of a transaction."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from plimsoll.fast_paths import ALL
from plimsoll.runtime.threads import Threads
from plimsoll.storage.dialects.base import DatabaseOptions
from plimsoll.storage.dialects.mysql import MySQL

URL = make_url("mysql+pymysql://user@127.0.0.1:1/none")  # nothing is connected


@pytest.mark.parametrize(
    ("is_mariadb", "message"), [(True, "BEGIN NOT ATOMIC UPDATE t;COMMIT;END"), (False, "UPDATE t;COMMIT")]
)
def test_mariadb_runs_the_statements_of_a_commit_as_one_block(is_mariadb: bool, message: str) -> None:
    dialect = MySQL(URL, DatabaseOptions(), Threads(), ALL)
    dialect._is_mariadb = is_mariadb
    assert dialect.as_one_statement("UPDATE t;COMMIT") == message
