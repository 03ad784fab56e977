# SPDX-License-Identifier: Apache-2.0

"""The service in this process, for a client that knows HTTP: no port is opened, and no token is asked for.

Tests of other services use it, and whoever wants to look at a Placement database without serving it. It needs
wsgi-intercept, which `pip install plimsoll-as-placement[testing]` brings.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any
from uuid import uuid4

import requests
from keystoneauth1 import adapter, session
from oslo_config import cfg
from wsgi_intercept import interceptor

from placement import deploy
from plimsoll.config import loader

__all__ = ["PlacementDirect"]


class PlacementDirect(interceptor.RequestsInterceptor):  # type: ignore[misc]  # it has no types
    """Within `with PlacementDirect(conf) as client:` the client is a keystoneauth1 Adapter of an administrator.

    With `latest_microversion` a request that names no version is of the latest, else of the first.

    `conf` names the database, and is made to believe everyone (noauth2). A subclass or a caller may put another
    factory into `app` before the block begins; else the service is loaded at the first request.
    """

    def __init__(self, conf: cfg.ConfigOpts, latest_microversion: bool = False) -> None:
        loader.register(conf)
        conf.set_override("auth_strategy", "noauth2", group="api")
        self._opened = contextlib.ExitStack()
        # The factory is asked for its application again for each connection, and it is to be one.
        self._load = functools.cache(lambda: self._opened.enter_context(deploy.passing(conf)))
        super().__init__(self._load, url=f"http://{uuid4()}/placement")
        headers = {"x-auth-token": "admin"}
        if latest_microversion:
            headers["OpenStack-API-Version"] = "placement latest"
        # A session of our own, with no options of sockets: there are none.
        in_process = session.Session(auth=None, session=requests.Session(), additional_headers=headers)
        self.adapter = adapter.Adapter(
            in_process, service_type="placement", endpoint_override=self.url, raise_exc=False
        )

    def __enter__(self) -> adapter.Adapter:
        super().__enter__()
        return self.adapter

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._load.cache_clear()
        self._opened.close()
