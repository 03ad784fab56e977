# SPDX-License-Identifier: Apache-2.0

"""Authentication that believes everyone, for tests and development.

The token is `USER` or `USER:PROJECT`; the user `admin` has the role admin, others have none, and a header
`X-Roles` overrides that. It fills in the headers that keystone would, so nothing behind it can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.access.gate import is_open, unauthorized


class NoAuth:
    __slots__ = ("_app",)

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if is_open(environ):
            return self._app(environ, start_response)
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if token is None:
            return unauthorized(environ, start_response)

        user, _, project = token.partition(":")
        environ["HTTP_X_USER_ID"] = user
        if not environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE"):
            environ["HTTP_X_TENANT_ID"] = project or user
        if "HTTP_X_ROLES" not in environ:
            environ["HTTP_X_ROLES"] = "admin" if user == "admin" else ""
        return self._app(environ, start_response)
