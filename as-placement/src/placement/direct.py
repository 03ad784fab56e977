# SPDX-License-Identifier: Apache-2.0

"""The service in this process, for an HTTP client: without a port, and without tokens of Keystone.

Tests of other services use it, and programs that read a Placement database without a running service. It needs
wsgi-intercept, which `pip install plimsoll-as-placement[testing]` installs.
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
    """A context manager that returns a client: a keystoneauth1 Adapter with the role admin.

    With `latest_microversion` a request without a version has the latest one, else the first.

    `conf` names the database; its auth_strategy is set to noauth2. A subclass or a caller may set `app` to another
    factory before the block begins; else the service is loaded at the first request.
    """

    def __init__(self, conf: cfg.ConfigOpts, latest_microversion: bool = False) -> None:
        loader.register(conf)
        conf.set_override("auth_strategy", "noauth2", group="api")
        self._opened = contextlib.ExitStack()
        # Cached, because the factory is called for each connection, and all must get the same application.
        self._load = functools.cache(lambda: self._opened.enter_context(deploy.temporary_app(conf)))
        super().__init__(self._load, url=f"http://{uuid4()}/placement")
        headers = {"x-auth-token": "admin"}
        if latest_microversion:
            headers["OpenStack-API-Version"] = "placement latest"
        # Our own session: keystoneauth's would set socket options, and there is no socket.
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
