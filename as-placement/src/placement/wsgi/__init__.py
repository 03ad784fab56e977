# SPDX-License-Identifier: Apache-2.0

"""The application from the configuration that is found where Placement's is."""

from __future__ import annotations

from wsgiref.types import WSGIApplication

from placement import alone, settings
from plimsoll.config import loader
from plimsoll.wsgi import load_application

__all__ = ["init_application"]


def init_application() -> WSGIApplication:
    """The service as a WSGI application. What hinders it from starting is raised here, not at the first request."""
    alone.require()
    settings.require_database(loader.load())
    return load_application()
