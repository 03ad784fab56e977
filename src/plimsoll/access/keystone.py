# SPDX-License-Identifier: Apache-2.0

"""Authentication by keystone: keystonemiddleware validates the token and fills in the headers.

It is set up from the `[keystone_authtoken]` section of the configuration it is given, and never looks for
another file. The version document passes without a token.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from keystonemiddleware import auth_token
from oslo_config import cfg

from plimsoll.access.gate import is_open


class Keystone:
    __slots__ = ("_app", "_guarded")

    def __init__(self, app: WSGIApplication, conf: cfg.ConfigOpts) -> None:
        self._app = app
        self._guarded: WSGIApplication = auth_token.AuthProtocol(app, {"oslo_config_config": conf})

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if is_open(environ):
            return self._app(environ, start_response)
        return self._guarded(environ, start_response)
