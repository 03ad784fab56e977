# SPDX-License-Identifier: Apache-2.0

"""The WSGI entry points: `application` for any server, `make_application(conf)` for a custom set-up.

`application` reads the configuration and loads the snapshot at its first request. `load_application` does both at once,
for servers that take a factory: they then fail at start instead of at the first request.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable
from typing import Self
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from sqlalchemy.exc import SQLAlchemyError

from plimsoll.access import IdentityError, PolicyError
from plimsoll.api.app import Application
from plimsoll.bootstrap import make_application
from plimsoll.config import loader, logging_setup
from plimsoll.config.loader import ConfigError
from plimsoll.runtime.base import Runtime
from plimsoll.runtime.threads import Threads
from plimsoll.server.application import ServedApplication, StartupError
from plimsoll.storage.database import UnusableDatabaseError
from plimsoll.storage.errors import DatabaseFault
from plimsoll.storage.schema.migrate import SchemaError

__all__ = ["application", "load_application", "make_application"]


class _Application:
    """The service of this process, loaded once by the first thread that needs it.

    A process that is forked afterwards loads its own. Servers written in C, such as uWSGI, fork without Python's fork
    hooks: the child then has its parent's connections, and objects of threads that do not run.
    """

    def __init__(self) -> None:
        self._loaded: Application | None = None
        self._inherited: list[Application] = []
        self._process = 0
        self._loading = threading.Lock()

    def load(self) -> Self:
        with self._loading:
            if self._process != os.getpid():
                if self._loaded is not None:  # not closed: that could end the parent's database session
                    self._inherited.append(self._loaded)
                    self._loaded = None
                self._loaded = _load(Threads())
                self._process = os.getpid()
        return self

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._process != os.getpid():
            self.load()
        assert self._loaded is not None
        return self._loaded(environ, start_response)


application = _Application()


def load_application() -> WSGIApplication:
    """Load the service of this process. Later calls return the same object."""
    return application.load()


def load_for_server(runtime: Runtime, worker: int) -> ServedApplication:
    """Load a service for a worker of `plimsoll serve`, which never forks. Errors that operators can fix: StartupError."""
    try:
        return _load(runtime, worker)
    except (
        ConfigError,
        IdentityError,
        PolicyError,
        SchemaError,
        UnusableDatabaseError,
        DatabaseFault,
    ) as error:
        raise StartupError(str(error)) from None
    except SQLAlchemyError as error:  # its first line is the database's own message; the rest quotes SQL
        raise StartupError(f"The database failed: {str(error).splitlines()[0]}") from None


def _load(runtime: Runtime, worker: int | None = None) -> Application:
    files = [name for name in os.environ.get(loader.FILES_VARIABLE, "").split(os.pathsep) if name]
    conf = loader.load(files)
    logging_setup.set_up(conf)
    loaded = make_application(conf, runtime, worker)
    # These objects live as long as the process. Frozen, they are not scanned at each garbage collection.
    gc.collect()
    gc.freeze()
    return loaded
