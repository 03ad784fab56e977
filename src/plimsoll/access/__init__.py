# SPDX-License-Identifier: Apache-2.0

"""Authentication and authorization of requests.

`with_authentication` puts the configured authentication in front of an application. Behind it `caller_of` returns the
caller of a request, and a `Policy` decides what the caller may do.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from oslo_config import cfg

from plimsoll.access.authenticate import (
    AuthenticationMiddleware,
    IdentityUnavailable,
    RemoteCallerRefused,
    caller_of,
    remove_identity_headers,
    without_authentication,
)
from plimsoll.access.identity import ANONYMOUS, Caller
from plimsoll.access.keystone import IdentityError, Keystone
from plimsoll.access.noauth import NoAuth
from plimsoll.access.policy import Policy, PolicyError
from plimsoll.runtime.base import Runtime

__all__ = [
    "ANONYMOUS",
    "Caller",
    "IdentityError",
    "IdentityUnavailable",
    "Policy",
    "PolicyError",
    "RemoteCallerRefused",
    "caller_of",
    "drop_client_identity_headers",
    "with_authentication",
    "without_authentication",
]


def drop_client_identity_headers(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Wrap the application: remove the identity headers that clients send. Must enclose every layer that logs.

    With noauth2 the headers stay: clients name their roles in them.
    """
    if conf.api.auth_strategy == "noauth2":
        return app

    def middleware(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        remove_identity_headers(environ)
        return app(environ, start_response)

    return middleware


def with_authentication(app: WSGIApplication, conf: cfg.ConfigOpts, runtime: Runtime) -> WSGIApplication:
    """Wrap the application in the authentication that `[api]auth_strategy` names.

    A request whose caller cannot be determined raises IdentityUnavailable or RemoteCallerRefused. This function
    raises IdentityError if the settings cannot be used.
    """
    if conf.api.auth_strategy == "noauth2":
        return AuthenticationMiddleware(app, NoAuth(allow_remote=conf.plimsoll.allow_insecure_noauth))
    return AuthenticationMiddleware(app, Keystone(conf, runtime))
