# SPDX-License-Identifier: Apache-2.0

"""Authentication that believes everyone, for tests and development.

The token is `USER` or `USER:PROJECT`; the user `admin` has the role admin, others have none, and a header
`X-Roles` overrides that. It fills in the headers that keystone would, so nothing behind it can tell.

Whoever asks from another machine is refused unless the operator has allowed that, whatever server and proxy let them
in. A server that names no address of the caller, as on a Unix socket, is believed to be reached from here alone.
"""

from __future__ import annotations

import logging
from functools import partial
from wsgiref.types import WSGIApplication, WSGIEnvironment

from plimsoll.access.authenticate import RemoteCallerRefused, unauthorized
from plimsoll.access.loopback import stranger

LOG = logging.getLogger(__name__)


_WITHOUT_TOKEN = partial(
    unauthorized,
    advice="This service is set up for development (auth_strategy = noauth2): send the header x-auth-token: admin,"
    " or x-auth-token: USER:PROJECT.",
)


class NoAuth:
    __slots__ = ("_anywhere", "_told")

    def __init__(self, *, anywhere: bool = False) -> None:
        self._anywhere = anywhere
        self._told = False
        whom = "whoever can reach this service" if anywhere else "whoever asks from this machine"
        LOG.warning(
            "auth_strategy is noauth2: %s is believed to be who they say, and can change everything.", whom
        )

    def __call__(self, environ: WSGIEnvironment) -> WSGIApplication | None:
        address = None if self._anywhere else stranger(environ)
        if address is not None:
            raise self._refused(address)
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if token is None:
            return _WITHOUT_TOKEN

        user, _, project = token.partition(":")
        environ["HTTP_X_USER_ID"] = user
        if not environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE"):
            environ["HTTP_X_TENANT_ID"] = project or user
        if "HTTP_X_ROLES" not in environ:
            environ["HTTP_X_ROLES"] = "admin" if user == "admin" else ""
        return None

    def _refused(self, address: str) -> RemoteCallerRefused:
        refusal = RemoteCallerRefused(address)
        if not self._told:  # once will do: whoever is refused tries again and again
            self._told = True
            LOG.error("%s", refusal)
        return refusal
