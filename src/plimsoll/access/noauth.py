# SPDX-License-Identifier: Apache-2.0

"""Authentication that accepts every token without verifying it, for tests and development.

The token is `USER` or `USER:PROJECT`. The user `admin` has the role admin, others have none; a header `X-Roles`
overrides that. It sets the same headers as Keystone's middleware.

Requests from other machines are refused, whichever server or proxy forwards them, unless the operator allows them. A
request without a client address, as on a Unix socket, counts as local.
"""

from __future__ import annotations

import logging
from functools import partial
from wsgiref.types import WSGIApplication, WSGIEnvironment

from plimsoll.access.authenticate import RemoteCallerRefused, unauthorized
from plimsoll.access.loopback import remote_address
from plimsoll.identity_headers import AUTH_TOKEN, ROLES, SYSTEM_SCOPE, TENANT_ID, USER_ID

LOG = logging.getLogger(__name__)


_WITHOUT_TOKEN = partial(
    unauthorized,
    advice="This service is set up for development (auth_strategy = noauth2): send the header x-auth-token: admin,"
    " or x-auth-token: USER:PROJECT.",
)


class NoAuth:
    def __init__(self, *, allow_remote: bool = False) -> None:
        self._allow_remote = allow_remote
        self._has_logged_refusal = False
        source = "any machine that can reach this service" if allow_remote else "this machine"
        LOG.warning(
            "auth_strategy is noauth2: tokens are not verified. Clients on %s can change everything.", source
        )

    def __call__(self, environ: WSGIEnvironment) -> WSGIApplication | None:
        address = None if self._allow_remote else remote_address(environ)
        if address is not None:
            refusal = RemoteCallerRefused(address)
            if not self._has_logged_refusal:  # only once: a client that is refused retries again and again
                self._has_logged_refusal = True
                LOG.error("%s", refusal)
            raise refusal
        token = environ.get(AUTH_TOKEN)
        if token is None:
            return _WITHOUT_TOKEN

        user, _, project = token.partition(":")
        environ[USER_ID] = user
        if not environ.get(SYSTEM_SCOPE):
            environ[TENANT_ID] = project or user
        if ROLES not in environ:
            environ[ROLES] = "admin" if user == "admin" else ""
        return None
