# SPDX-License-Identifier: Apache-2.0

"""The service as a WSGI application: the table of its applications by path, and the middleware around them.

From the outside in: rest of the body, proxy headers, prefix, dispatch by path. Then for both APIs: request log, CORS,
authentication, and again dispatch by path. Routes that need no token are dispatched without the authentication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import orjson
from oslo_config import cfg
from oslo_middleware import CORS, HTTPProxyToWSGI

from plimsoll.access import (
    IdentityUnavailable,
    Policy,
    RemoteCallerRefused,
    drop_client_identity_headers,
    without_authentication,
)
from plimsoll.access.loopback import record_peer_address
from plimsoll.access.sign_in import KeystoneSignIn
from plimsoll.api import health, metrics
from plimsoll.api.console.application import PATH as CONSOLE_PATH
from plimsoll.api.console.application import ConsoleApp
from plimsoll.api.console.files import StaticFile
from plimsoll.api.console.sign_in import SessionPage, SignInPage
from plimsoll.api.metrics import MetricsPage
from plimsoll.api.placement.application import PlacementApi
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.api.v1.application import V1Api
from plimsoll.api.v1.route import V1Route
from plimsoll.api.v1.routes import ROUTES as V1_ROUTES
from plimsoll.http.dispatch import Dispatch, Mounted
from plimsoll.http.middleware import mount
from plimsoll.http.middleware.drain import Drain
from plimsoll.http.middleware.request_log import Durations, RequestLog
from plimsoll.http.problems import JSON, Problem, send_problem
from plimsoll.http.request_id import REQUEST_ID_HEADER, new_request_id
from plimsoll.http.response import Headers, length_header
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.service.change_feed import end_subscriptions
from plimsoll.service.placement import Placement

V1_PATH = "/plimsoll/"


@dataclass(frozen=True, slots=True, eq=False)
class Console:
    """The parts of the web console that depend on the configuration."""

    files: Mapping[str, StaticFile]
    sign_in: KeystoneSignIn | None
    """None with development authentication."""
    cloud_name: str | None = None


IDENTITY_UNAVAILABLE = Problem(
    503,
    "This token could not be validated: Keystone is unavailable. Nothing was changed. Try again.",
    retry_after=5,
)


def make_app(
    placement: Placement,
    policy: Policy,
    conf: cfg.ConfigOpts,
    *,
    authenticate: Callable[[WSGIApplication], WSGIApplication],
    metrics_page: MetricsPage | None = None,
    console: Console | None = None,
    outermost: Callable[[WSGIApplication], WSGIApplication] = lambda app: app,
) -> Application:
    """Build the application. `conf` has the options of `plimsoll.config.loader`.

    `authenticate` wraps an API in the authentication, `outermost` wraps the whole. Without a `metrics_page` there is no
    path /metrics, without a `console` no path /console.
    """
    fast_log = placement.settings.fast_paths.request_log
    longest_body, prefix = conf.plimsoll.max_body_bytes, mount.normalize_prefix(conf.plimsoll.prefix)
    v1 = V1Api(placement, policy, V1_ROUTES)
    behind_authentication = [Mounted(metrics.PATH, metrics_page.for_callers)] if metrics_page else []
    apis = Dispatch(
        Mounted("/", PlacementApi(placement, policy, Router(ROUTES), longest_body)),
        Mounted(V1_PATH, v1),
        *behind_authentication,
    )
    authenticated = _with_middleware(authenticate(apis), conf, fast_log, placement.metrics)
    open_v1 = _with_middleware(without_authentication(v1), conf, fast_log, placement.metrics)
    without_token = (
        [Mounted(metrics.PATH, metrics_page.for_trusted_clients(authenticated))] if metrics_page else []
    )
    dispatch = Dispatch(
        Mounted("/", authenticated, immediate_paths=("", "/")),
        Mounted(health.PATH, health.Probes(placement), immediate_paths=(health.PATH,)),
        *(Mounted(_fixed_part(route), open_v1) for route in V1_ROUTES if route.rule is None),
        *without_token,
        *(() if console is None else _console_mounts(console, fast_log, placement.metrics)),
    )
    app: WSGIApplication = dispatch
    if prefix:
        app = mount.mounted(prefix, inside=app, outside=RequestLog(_not_found_outside(prefix), fast=fast_log))
    app = drop_client_identity_headers(app, conf)
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        app = record_peer_address(HTTPProxyToWSGI(app, conf))
    # With a prefix, the server or proxy in front may have removed it from the path already.
    immediate = dispatch.immediate_paths | {prefix + path for path in dispatch.immediate_paths}
    end_waits = partial(end_subscriptions, placement)
    return Application(
        outermost(app),
        longest_body,
        immediate,
        placement.metrics,
        end_waits,
        shares_writer=placement.settings.fast_paths.shared_writer,
    )


class Application(Drain):
    """The application with the functions that our server calls beyond WSGI: see `plimsoll.server.application`."""

    def __init__(
        self,
        app: WSGIApplication,
        longest_body: int,
        immediate_paths: Collection[str],
        metrics: Metrics = NO_METRICS,
        end_waits: Callable[[], None] = lambda: None,
        *,
        shares_writer: bool = False,
    ) -> None:
        super().__init__(app, longest_body)
        self.shares_writer = shares_writer
        self.end_waits = end_waits
        self.immediate_paths = immediate_paths
        self._metrics = metrics

    def error_response(self, status: int, detail: str) -> tuple[Headers, bytes]:
        """Return headers and body of an error document without the parts that need a negotiated version."""
        self._metrics.request_refused(status)
        request_id = new_request_id()
        title = HTTPStatus(status).phrase
        error = {"status": status, "title": title, "detail": detail, "request_id": request_id}
        body = orjson.dumps({"errors": [error]})
        return [("content-type", JSON), length_header(body), (REQUEST_ID_HEADER, request_id)], body


def _with_middleware(
    api: WSGIApplication, conf: cfg.ConfigOpts, fast_log: bool, metrics: Metrics
) -> WSGIApplication:
    """Wrap an API with its authentication in the request log and CORS."""
    app: WSGIApplication = _report_authentication_errors(api)
    if conf.cors.allowed_origin:
        app = CORS.factory({}, **conf.cors)(app)
    slow = conf.plimsoll.slow_request_seconds or math.inf
    durations = Durations(conf.plimsoll.log_request_duration, slow)
    return RequestLog(app, durations, fast=fast_log, metrics=metrics)


def _console_mounts(console: Console, fast_log: bool, metrics: Metrics) -> tuple[Mounted, ...]:
    """Return the console. Session and sign-in are in the request log; files, which need no token, are not."""

    def logged(app: WSGIApplication) -> WSGIApplication:
        return without_authentication(RequestLog(app, fast=fast_log, metrics=metrics))

    session = SessionPage(console.cloud_name, needs_sign_in=console.sign_in is not None)
    app = ConsoleApp(console.files, logged(session), logged(SignInPage(console.sign_in)))
    return (
        Mounted(CONSOLE_PATH, app),
        Mounted(f"{CONSOLE_PATH}/", app, immediate_paths=tuple(app.immediate_paths)),
    )


def _fixed_part(route: V1Route) -> str:
    """Return the path of a route, or its part before the first value."""
    return route.path.partition("{")[0]


def _report_authentication_errors(app: WSGIApplication) -> WSGIApplication:
    """Turn failures of authentication into responses: Keystone is unavailable, or a remote caller is refused."""

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return app(environ, start_response)
        except IdentityUnavailable:
            problem = IDENTITY_UNAVAILABLE
        except RemoteCallerRefused as refusal:
            problem = Problem(403, str(refusal))
        return send_problem(problem, environ, start_response)

    return call


def _not_found_outside(prefix: str) -> WSGIApplication:
    problem = Problem(404, f"Paths of this service begin with {prefix}.")
    return lambda environ, start_response: send_problem(problem, environ, start_response)
