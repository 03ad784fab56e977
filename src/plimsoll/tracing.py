# SPDX-License-Identifier: Apache-2.0

"""Traces of requests by osprofiler, where it is installed and `[profiler] enabled` says so; else nothing happens."""

from __future__ import annotations

import importlib
import socket
from wsgiref.types import WSGIApplication

from oslo_config import cfg


def traced(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """The application, with each request of a client who wants it traced. `conf` may come from others."""
    if "profiler" not in conf or not conf.profiler.enabled:
        return app
    start = importlib.import_module("osprofiler.initializer").init_from_conf
    start(conf, context={}, project="placement", service="placement", host=socket.gethostname())
    middleware = importlib.import_module("osprofiler.web").WsgiMiddleware
    wrapped: WSGIApplication = middleware.factory({}, **conf.profiler)(app)
    return wrapped
