# SPDX-License-Identifier: Apache-2.0

"""The application for a configuration that the calling program has made."""

from __future__ import annotations

from contextlib import AbstractContextManager
from wsgiref.types import WSGIApplication

from oslo_config import cfg

from placement import alone, settings
from plimsoll.bootstrap import make_application, temporary_application

__all__ = ["loadapp", "temporary_app"]


def loadapp(config: cfg.ConfigOpts, project_name: str | None = None) -> WSGIApplication:
    """Return the service as a WSGI application.

    Options that `config` lacks are registered. Run `placement-manage db sync` on its database first, unless
    [placement_database]sync_on_startup is set. `project_name` is not used; Placement's function has it.
    """
    _require(config)
    return make_application(config)


def temporary_app(config: cfg.ConfigOpts) -> AbstractContextManager[WSGIApplication]:
    """The same as a context manager: at its end no connection and no thread remains."""
    _require(config)
    # The thread that compares memory with the database would outlive the application.
    config.set_override("verify_interval", 0, group="plimsoll")
    return temporary_application(config)


def _require(config: cfg.ConfigOpts) -> None:
    alone.require()
    settings.require_database(config)
