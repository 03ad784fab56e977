# SPDX-License-Identifier: Apache-2.0

"""The application for the configuration file in Placement's default locations."""

from __future__ import annotations

from wsgiref.types import WSGIApplication

from placement import alone, settings
from plimsoll.config import loader
from plimsoll.wsgi import load_application

__all__ = ["init_application"]


def init_application() -> WSGIApplication:
    """Return the service as a WSGI application. Errors of the start are raised here, not at the first request."""
    alone.require()
    settings.require_database(loader.load())
    return load_application()
