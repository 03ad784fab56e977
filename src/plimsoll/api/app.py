# SPDX-License-Identifier: Apache-2.0

"""The service as a WSGI application: the middleware stack, and the dispatch of one API request.

From the outside in: proxy headers, prefix, health and request log, CORS, authentication, caller. Then `Api`: version,
length of the body, route, preconditions, policy, handler. `Api` turns every exception into an error response.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable
from http import HTTPStatus
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import orjson
from oslo_config import cfg
from oslo_middleware import CORS, HTTPProxyToWSGI

from plimsoll.access import (
    IdentityUnavailable,
    Policy,
    RemoteCallerRefused,
    caller_of,
    drop_client_identity_headers,
)
from plimsoll.access.loopback import record_peer_address
from plimsoll.api import health
from plimsoll.api.health import Probes
from plimsoll.api.placement.errors import (
    CONSTRAINT_FAILED,
    VALUE_NOT_STORABLE,
    Refused,
    problem_of,
    unavailable,
)
from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.microversion import (
    ENVIRON_HEADER,
    HEADER,
    LOWEST,
    Version,
    explain_unused_header,
    negotiate,
)
from plimsoll.api.placement.preconditions import METHOD_NOT_ALLOWED
from plimsoll.api.placement.prefetch import Prefetch, find_place, placement_for_read
from plimsoll.api.placement.refusal_log import log_problem, log_refusal
from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.http import timings
from plimsoll.http.middleware import mount
from plimsoll.http.middleware.drain import Drain
from plimsoll.http.middleware.request_log import (
    REQUEST_ID_HEADER,
    REQUEST_ID_KEY,
    VERSION_KEY,
    Durations,
    RequestLog,
    new_request_id,
)
from plimsoll.http.problems import (
    JSON,
    STATUS_LINES,
    Problem,
    render,
)
from plimsoll.http.response import UNDATED, Response, http_date
from plimsoll.service.placement import (
    ConstraintFailed,
    DatabaseFault,
    OutcomeUnknown,
    Placement,
    StatementTooLong,
    ValueNotStorable,
)

LOG = logging.getLogger(__name__)

NO_CONTENT = 204
_VERSION_DEPENDENT_STATUSES = (400, 404, 405)
"""Statuses that a wrong version can cause. Their errors mention a version header that was not used."""

_IMMEDIATE = ("", "/", health.PATH)
_VARY_HEADER = ("vary", HEADER)
_JSON_CONTENT_TYPE = ("content-type", JSON)
_NO_CACHE_HEADER = ("cache-control", "no-cache")

IDENTITY_UNAVAILABLE = Problem(
    503,
    "This token could not be validated: Keystone is unavailable. Nothing was changed. Try again.",
    retry_after=5,
)

Reply = tuple[str, list[tuple[str, str]], tuple[bytes, ...]]
"""The arguments and the result of a WSGI call: status, headers, body."""


def make_app(
    placement: Placement,
    policy: Policy,
    conf: cfg.ConfigOpts,
    *,
    authenticate: Callable[[WSGIApplication], WSGIApplication],
    outermost: Callable[[WSGIApplication], WSGIApplication] = lambda app: app,
) -> Application:
    """Build the application. `conf` has the options of `plimsoll.config.loader`.

    `authenticate` wraps the API in the authentication, `outermost` wraps the whole.
    """
    router, prefix = Router(ROUTES), mount.normalize_prefix(conf.plimsoll.prefix)
    api = Api(placement, policy, router, conf.plimsoll.max_body_bytes)
    app: WSGIApplication = AuthenticationErrors(authenticate(api))
    if conf.cors.allowed_origin:
        app = CORS.factory({}, **conf.cors)(app)
    durations = Durations(conf.plimsoll.log_request_duration, conf.plimsoll.slow_request_seconds or math.inf)
    app = prefetch = Prefetch(
        RequestLog(app, {health.PATH: Probes(placement)}, durations), placement, router, prefix
    )
    if prefix:
        app = mount.Mount(prefix, inside=app, outside=RequestLog(_not_found_outside(prefix)))
    app = drop_client_identity_headers(app, conf)
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        app = record_peer_address(HTTPProxyToWSGI(app, conf))
    return Application(outermost(app), conf.plimsoll.max_body_bytes, prefetch.start_for_target, prefix)


class Application(Drain):
    """The application with the attributes that our server uses beyond WSGI: see `plimsoll.server.application`."""

    __slots__ = ("immediate_paths", "prefetch")

    def __init__(
        self, app: WSGIApplication, longest_body: int, prefetch: Callable[[str], dict[str, Any]], prefix: str
    ) -> None:
        super().__init__(app, longest_body)
        self.prefetch = prefetch
        self.immediate_paths: Collection[str] = frozenset(
            {*_IMMEDIATE, *(prefix + path for path in _IMMEDIATE)}
        )
        """Health probes and the version document: the server runs them without a permit, so they never queue."""

    def error_response(self, status: int, detail: str) -> tuple[list[tuple[str, str]], bytes]:
        """Return headers and body of an error document without the parts that need a negotiated version."""
        request_id = new_request_id()
        title = HTTPStatus(status).phrase
        error = {"status": status, "title": title, "detail": detail, "request_id": request_id}
        body = orjson.dumps({"errors": [error]})
        length = ("content-length", str(len(body)))
        return [_JSON_CONTENT_TYPE, length, (REQUEST_ID_HEADER, request_id)], body


class AuthenticationErrors:
    """Turn failures of authentication into responses: Keystone is unavailable, or a remote caller is refused."""

    __slots__ = ("_app",)

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return self._app(environ, start_response)
        except IdentityUnavailable:
            problem = IDENTITY_UNAVAILABLE
        except RemoteCallerRefused as refusal:
            problem = Problem(403, str(refusal))
        return _send_problem(problem, environ, start_response)


def _not_found_outside(prefix: str) -> WSGIApplication:
    problem = Problem(404, f"Paths of this service begin with {prefix}.", omit_vary=True)

    def refuse(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _send_problem(problem, environ, start_response)

    return refuse


def _send_problem(
    problem: Problem, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    status, headers, body = _problem_reply(problem, environ, None)
    start_response(status, headers)
    return body


class Api:
    """The innermost WSGI application: dispatch a request to its handler and build the response."""

    __slots__ = ("_longest_body", "_placement", "_policy", "_router")

    def __init__(self, placement: Placement, policy: Policy, router: Router, longest_body: int) -> None:
        self._placement = placement
        self._policy = policy
        self._router = router
        self._longest_body = longest_body

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        version = None
        timings.lap(environ, timings.AUTHENTICATION)
        try:
            version = negotiate(environ.get(ENVIRON_HEADER))
            environ[VERSION_KEY] = version.text
            reply = self._reply(environ, version)
        except Problem as problem:
            if version is LOWEST and problem.status in _VERSION_DEPENDENT_STATUSES:
                problem.append(explain_unused_header(environ.get(ENVIRON_HEADER)))
            log_problem(problem, environ)
            reply = _problem_reply(problem, environ, version)
        except DatabaseFault as fault:
            # An outage has its own lines in the log. A request with an unknown outcome is logged as well.
            is_logged = fault.is_outage and not isinstance(fault, OutcomeUnknown)
            level = logging.DEBUG if is_logged else logging.ERROR
            LOG.log(level, "%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), fault)
            reply = _problem_reply(unavailable(fault), environ, version)
        except StatementTooLong as too_long:
            LOG.info("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), too_long)
            reply = _problem_reply(Problem(413, str(too_long)), environ, version)
        except ConstraintFailed as failed:
            LOG.warning("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), failed)
            reply = _problem_reply(Problem(400, CONSTRAINT_FAILED), environ, version)
        except ValueNotStorable as unkept:
            LOG.info("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), unkept)
            reply = _problem_reply(Problem(400, VALUE_NOT_STORABLE), environ, version)
        except Exception:
            LOG.exception("Unexpected error on %s %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"))
            detail = "An unexpected error occurred. The log of the service has more about this request."
            reply = _problem_reply(Problem(500, detail), environ, version)
        status, headers, body = reply
        start_response(status, headers)
        return body

    def _reply(self, environ: WSGIEnvironment, version: Version) -> Reply:
        _check_content_headers(environ)
        # The path is not decoded to Unicode: error texts have always quoted it as it was sent.
        found = find_place(environ, self._router)
        if found is None:
            raise Problem(404, omit_vary=True)
        place, params = found
        route = place.route(environ["REQUEST_METHOD"], version)
        if route is None:
            raise Problem(405, METHOD_NOT_ALLOWED, allow=place.allow)
        placement = self._placement
        if route.method == "GET":
            placement = placement_for_read(environ, placement)
        call = ApiRequest(environ, version, params, caller_of(environ), placement, self._longest_body)
        for check in route.checks:
            check(call)
        if route.rule is not None:
            target = None if route.target is None else route.target(call)
            if not self._policy.allows(route.rule, call.caller, target):
                raise Problem(403, f"Policy does not allow {route.rule} to be performed.", omit_vary=True)
        try:
            if route.method != "GET":
                return _response_reply(route.handler(call), call)
            return placement.read(lambda _: _response_reply(route.handler(call), call))
        except Refused as refused:
            problem = problem_of(refused, route.name, params)
            log_refusal(refused.refusal, problem, environ)
            raise problem from None


def _check_content_headers(environ: WSGIEnvironment) -> None:
    length = environ.get("CONTENT_LENGTH")
    if not length:
        return
    try:
        has_body = int(length) > 0
    except ValueError:
        raise Problem(400, "content-length header must be an integer", omit_vary=True) from None
    if has_body and not environ.get("CONTENT_TYPE"):
        raise Problem(400, "content-type header required when content-length > 0", omit_vary=True)


def _response_reply(response: Response, call: ApiRequest) -> Reply:
    status, body, location, modified = response
    version = call.version
    headers = [version.header, _VARY_HEADER]
    if body is not None:
        headers.append(_JSON_CONTENT_TYPE)
    if status != NO_CONTENT:
        headers.append(("content-length", str(len(body or b""))))
    if location is not None:
        headers.append(("location", _absolute(location, call.environ)))
    if modified is not UNDATED and version.has(Feature.CACHE_HEADERS):
        headers.append(_NO_CACHE_HEADER)
        if modified is not None:
            headers.append(("last-modified", http_date(modified)))
    return STATUS_LINES[status], headers, () if body is None else (body,)


def _problem_reply(problem: Problem, environ: WSGIEnvironment, version: Version | None) -> Reply:
    with_code = version is not None and version.has(Feature.ERROR_CODES)
    content_type, body = render(problem, environ, environ.get(REQUEST_ID_KEY), with_code=with_code)
    headers = [("content-type", content_type), ("content-length", str(len(body)))]
    if version is not None:
        headers.append(version.header)
        if not problem.omit_vary:
            headers.append(_VARY_HEADER)
    if problem.allow is not None:
        headers.append(("allow", problem.allow))
    if problem.retry_after is not None:
        headers.append(("retry-after", str(problem.retry_after)))
    return STATUS_LINES[problem.status], headers, (body,)


def _absolute(path: str, environ: WSGIEnvironment) -> str:
    """Return the absolute URL of a path, with the host that the client or the proxy used."""
    scheme = environ["wsgi.url_scheme"]
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    default = {"http": ":80", "https": ":443"}.get(scheme, ":")
    return f"{scheme}://{host.removesuffix(default)}{environ.get('SCRIPT_NAME', '')}{path}"
