# SPDX-License-Identifier: Apache-2.0

"""The application from a configuration that somebody else has made."""

from __future__ import annotations

from contextlib import AbstractContextManager
from wsgiref.types import WSGIApplication

from oslo_config import cfg

from placement import alone, settings
from plimsoll.bootstrap import make_application, passing_application

__all__ = ["loadapp", "passing"]


def loadapp(config: cfg.ConfigOpts, project_name: str | None = None) -> WSGIApplication:
    """The service as a WSGI application.

    Options that `config` lacks are registered. Its database must have seen `placement-manage db sync`, unless
    [placement_database]sync_on_startup is set. `project_name` is taken and not used, as Placement has it.
    """
    _require(config)
    return make_application(config)


def passing(config: cfg.ConfigOpts) -> AbstractContextManager[WSGIApplication]:
    """The same for the time of a `with` block: no connection and no thread is left behind."""
    _require(config)
    # What looks after memory for ever has no place in what comes and goes.
    config.set_override("verify_interval", 0, group="plimsoll")
    return passing_application(config)


def _require(config: cfg.ConfigOpts) -> None:
    alone.require()
    settings.require_database(config)
