# SPDX-License-Identifier: Apache-2.0

"""Traces of requests by osprofiler, if it is installed and `[profiler] enabled` is set."""

from __future__ import annotations

import importlib
import socket
from wsgiref.types import WSGIApplication

from oslo_config import cfg


def with_tracing(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Wrap the application in osprofiler's middleware, which traces the requests whose headers request it.

    `conf` may come from another program and lack the section.
    """
    if "profiler" not in conf or not conf.profiler.enabled:
        return app
    start = importlib.import_module("osprofiler.initializer").init_from_conf
    start(conf, context={}, project="placement", service="placement", host=socket.gethostname())
    middleware = importlib.import_module("osprofiler.web").WsgiMiddleware
    wrapped: WSGIApplication = middleware.factory({}, **conf.profiler)(app)
    return wrapped
