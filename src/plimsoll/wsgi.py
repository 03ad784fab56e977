# SPDX-License-Identifier: Apache-2.0

"""The WSGI entry: `plimsoll.wsgi:application` for any server, `make_application(conf)` for one's own set-up.

`application` reads the configuration and loads the world when it is first called; `load_application` does so
at once, for servers that take a factory and should fail at their start rather than at the first request.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll import config, logs
from plimsoll.bootstrap import make_application

__all__ = ["application", "load_application", "make_application"]


def load_application() -> WSGIApplication:
    files = [name for name in os.environ.get(config.FILES_VARIABLE, "").split(os.pathsep) if name]
    conf = config.load(files)
    logs.set_up(conf)
    loaded = make_application(conf)
    # What is there now is there to stay: to look through the whole world for garbage, time and again, finds none.
    gc.collect()
    gc.freeze()
    return loaded


class _Application:
    """Loads itself at the first request, once, whichever thread gets it."""

    def __init__(self) -> None:
        self._loaded: WSGIApplication | None = None
        self._loading = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._loaded is None:
            with self._loading:
                self._loaded = self._loaded or load_application()
        return self._loaded(environ, start_response)


application = _Application()
