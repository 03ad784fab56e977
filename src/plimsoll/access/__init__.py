# SPDX-License-Identifier: Apache-2.0

"""Who is asking, and may they.

`guarded` puts the configured authentication in front of an application; behind it `caller_of` names the caller,
and a `Policy` says what they may do.
"""

from __future__ import annotations

from wsgiref.types import WSGIApplication

from oslo_config import cfg

from plimsoll.access.authenticate import IdentityUnavailable, RemoteCallerRefused, without_identity_headers
from plimsoll.access.context import Context, caller_of
from plimsoll.access.identity import NOBODY, Caller
from plimsoll.access.keystone import IdentityError, Keystone
from plimsoll.access.noauth import NoAuth
from plimsoll.access.policy import Policy, PolicyError

__all__ = [
    "NOBODY",
    "Caller",
    "IdentityError",
    "IdentityUnavailable",
    "Policy",
    "PolicyError",
    "RemoteCallerRefused",
    "caller_of",
    "guarded",
    "trusting_no_headers",
]


def trusting_no_headers(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """The application without the identity headers of clients, to be put around all that logs or answers requests.

    With noauth2 they are the client's way to name roles, and stay.
    """
    return app if conf.api.auth_strategy == "noauth2" else without_identity_headers(app)


def guarded(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """The application behind the authentication that `[api]auth_strategy` names.

    It raises IdentityUnavailable or NotFromHere instead of answering where it cannot know who is asking, and
    IdentityError right here if its settings cannot be used.
    """
    if conf.api.auth_strategy == "noauth2":
        return Context(app, NoAuth(anywhere=conf.plimsoll.allow_insecure_noauth))
    return Context(app, Keystone(conf))
