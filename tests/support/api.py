# SPDX-License-Identifier: Apache-2.0

"""Client for the API, called in process without a network, on a real database.

Every response is checked against the OpenAPI document of its API and version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from wsgiref.types import WSGIApplication

from oslo_config import cfg

from plimsoll.access import Policy, with_authentication
from plimsoll.api.app import make_app
from plimsoll.bootstrap import open_placement, settings_from
from plimsoll.config import loader
from plimsoll.config.database_url import open_database
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.runtime.threads import Threads
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from tests.support.databases import SavedRows
from tests.support.openapi import violations
from tests.support.wsgi import environ

NO_BODY: Any = object()


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        detail: str = self.json["errors"][0]["detail"]
        return detail

    @property
    def code(self) -> str | None:
        code: str | None = self.json["errors"][0].get("code")
        return code


class Api:
    """Calls a WSGI application as an administrator, at a version of the API."""

    def __init__(self, application: WSGIApplication, database: Database) -> None:
        self.application = application
        self.database = database

    def call(
        self,
        method: str,
        path: str,
        body: Any = NO_BODY,
        version: str | None = "1.39",
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        content = raw if raw is not None else b"" if body is NO_BODY else json.dumps(body).encode()
        sent_headers = {"X-Auth-Token": "admin", "X-Roles": "admin,service"}
        if version is not None:
            sent_headers["OpenStack-API-Version"] = f"placement {version}"
        if content:
            sent_headers |= {"Content-Length": str(len(content)), "Content-Type": "application/json"}
        wsgi_environ = environ(method, path, content, [*sent_headers.items(), *(headers or {}).items()])
        started: list[Any] = []
        chunks: Any = self.application(wsgi_environ, lambda *args: started.extend(args[:2]))  # type: ignore[arg-type]
        content = b"".join(chunks)
        if hasattr(chunks, "close"):
            chunks.close()
        response = Response(
            int(started[0].split()[0]), {name.lower(): value for name, value in started[1]}, content
        )
        found = violations(method, path, response.status, response.headers, content)
        assert not found, (method, path, found, response)
        return response

    def get(self, path: str, version: str | None = "1.39") -> Response:
        return self.call("GET", path, version=version)

    def put(self, path: str, body: Any = NO_BODY, version: str | None = "1.39") -> Response:
        return self.call("PUT", path, body, version)

    def post(self, path: str, body: Any = NO_BODY, version: str | None = "1.39") -> Response:
        return self.call("POST", path, body, version)

    def delete(self, path: str, version: str | None = "1.39") -> Response:
        return self.call("DELETE", path, version=version)

    def host(self, uuid: str, name: str | None = None, parent: str | None = None, **totals: int) -> str:
        """Create a provider with inventories and return its uuid."""
        response = self.post(
            "/resource_providers", {"uuid": uuid, "name": name or uuid, "parent_provider_uuid": parent}
        )
        assert response.status == 200, response.body
        body = {
            "resource_provider_generation": 0,
            "inventories": {resource_class: {"total": total} for resource_class, total in totals.items()},
        }
        response = self.put(f"/resource_providers/{uuid}/inventories", body)
        assert response.status == 200, response.body
        return uuid

    def state(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return all rows of the tables whose content clients can see, and the head."""
        tables = (
            "resource_providers inventories allocations resource_provider_traits resource_provider_aggregates"
            " consumers traits resource_classes plimsoll_head"
        ).split()
        with self.database.read() as conn:
            return {
                t: sorted(map(tuple, conn.exec_driver_sql(f"SELECT * FROM {t}")), key=str) for t in tables
            }


def configuration(database: Path | str, **options: Any) -> cfg.ConfigOpts:
    """Return a configuration with noauth2 and a database (a URL or a SQLite file), created if missing."""
    conf = cfg.ConfigOpts()
    loader.register(conf)
    conf([], project="placement", default_config_files=[], default_config_dirs=[])
    url = f"sqlite:///{database}" if isinstance(database, Path) else database
    conf.set_override("auth_strategy", "noauth2", group="api")
    conf.set_override("connection", url, group="placement_database")
    conf.set_override("sync_on_startup", True, group="placement_database")
    conf.set_override("sqlite_synchronous", False, group="placement_database")
    conf.set_override("verify_interval", 0, group="plimsoll")
    for name, value in options.items():
        group, _, option = name.partition("__")
        conf.set_override(option, value, group=group)
    return conf


def authentication(conf: cfg.ConfigOpts) -> Callable[[WSGIApplication], WSGIApplication]:
    return partial(with_authentication, conf=conf, runtime=Threads())


@contextmanager
def api(database: Path | str, **options: Any) -> Iterator[Api]:
    """Open the API on a database; at the end check that memory and SQL are equal."""
    conf = configuration(database, **options)
    placement = open_placement(conf)
    try:
        yield Api(
            make_app(placement, Policy(conf), conf, authenticate=authentication(conf)),
            placement.ledger.database,
        )
        assert differences(placement.ledger) == []
    finally:
        placement.close()


class ReusedApi:
    """The API on one database for many tests. Each test gets the initial rows and an empty memory.

    The slow parts (configuration, policy, connections) are created once.
    """

    def __init__(self, database: str) -> None:
        self._conf = configuration(database)
        self._policy = Policy(self._conf)
        self._database = open_database(self._conf)
        self._saved_rows = SavedRows(database)

    @contextmanager
    def fresh_api(self) -> Iterator[Api]:
        self._saved_rows.restore()
        placement = Placement(Ledger(self._database), settings_from(self._conf))
        app = make_app(placement, self._policy, self._conf, authenticate=authentication(self._conf))
        yield Api(app, self._database)
        assert differences(placement.ledger) == []

    def close(self) -> None:
        self._database.dispose()
        self._saved_rows.dispose()
