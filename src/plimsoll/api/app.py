# SPDX-License-Identifier: Apache-2.0

"""The service as a WSGI application: what a request passes on its way in, and what every answer carries.

From the outside in: proxy headers, prefix, health and request log, CORS, authentication, who is asking; then, here,
the version, the length of the body, the route, its checks, the policy, the handler. Nothing raised on the way gets out
of here.
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
    guarded,
    trusting_no_headers,
)
from plimsoll.access.loopback import noting_who_connected
from plimsoll.api import health
from plimsoll.api.health import Probes
from plimsoll.api.placement.errors import (
    CONSTRAINT_FAILED,
    VALUE_NOT_KEPT,
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
    negotiate,
    unread_header,
)
from plimsoll.api.placement.preconditions import METHOD_NOT_ALLOWED
from plimsoll.api.placement.prefetch import Prefetch, found_at, seeing
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
    rendered,
)
from plimsoll.http.response import UNDATED, Response, http_date
from plimsoll.service.placement import (
    ConstraintFailed,
    DatabaseFault,
    OutcomeUnknown,
    Placement,
    TooLong,
    ValueNotKept,
)

LOG = logging.getLogger(__name__)

NO_CONTENT = 204
_DEPEND_ON_VERSION = (400, 404, 405)
"""Statuses that a version other than the one meant can be the cause of."""

_IMMEDIATE = ("", "/", health.PATH)
_VARIES = ("vary", HEADER)
_IS_JSON = ("content-type", JSON)
_NOT_TO_BE_KEPT = ("cache-control", "no-cache")

NO_IDENTITY = Problem(
    503, "Keystone cannot be asked about this token just now. Nothing was changed. Try again.", retry_after=5
)

Reply = tuple[str, list[tuple[str, str]], tuple[bytes, ...]]
"""As WSGI wants it: the status, the headers, the body."""


def make_app(
    placement: Placement,
    policy: Policy,
    conf: cfg.ConfigOpts,
    outermost: Callable[[WSGIApplication], WSGIApplication] = lambda app: app,
) -> Application:
    """The whole application. `conf` has the options of `plimsoll.config.loader` registered; `outermost` is put around it."""
    router, prefix = Router(ROUTES), mount.normal(conf.plimsoll.prefix)
    api = Api(placement, policy, router, conf.plimsoll.max_body_bytes)
    app: WSGIApplication = AuthenticationErrors(guarded(api, conf))
    if conf.cors.allowed_origin:
        app = CORS.factory({}, **conf.cors)(app)
    durations = Durations(conf.plimsoll.log_request_duration, conf.plimsoll.slow_request_seconds or math.inf)
    app = ahead = Prefetch(
        RequestLog(app, {health.PATH: Probes(placement)}, durations), placement, router, prefix
    )
    if prefix:
        app = mount.Mount(prefix, inside=app, outside=RequestLog(_nothing_but(prefix)))
    app = trusting_no_headers(app, conf)
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        app = noting_who_connected(HTTPProxyToWSGI(app, conf))
    return Application(outermost(app), conf.plimsoll.max_body_bytes, ahead.foresee, prefix)


class Application(Drain):
    """The whole application, with what our server asks of it beyond WSGI: see `serving.application`."""

    __slots__ = ("immediate_paths", "prefetch")

    def __init__(
        self, app: WSGIApplication, longest_body: int, prefetch: Callable[[str], dict[str, Any]], prefix: str
    ) -> None:
        super().__init__(app, longest_body)
        self.prefetch = prefetch
        self.immediate_paths: Collection[str] = frozenset(
            {*_IMMEDIATE, *(prefix + path for path in _IMMEDIATE)}
        )
        """Health probes and the version document never wait, and are answered however many requests do."""

    def error_response(self, status: int, detail: str) -> tuple[list[tuple[str, str]], bytes]:
        """The error document of the API, without the parts that depend on a version: none was negotiated."""
        request_id = new_request_id()
        title = HTTPStatus(status).phrase
        error = {"status": status, "title": title, "detail": detail, "request_id": request_id}
        body = orjson.dumps({"errors": [error]})
        length = ("content-length", str(len(body)))
        return [_IS_JSON, length, (REQUEST_ID_HEADER, request_id)], body


class AuthenticationErrors:
    """Answers requests of which it cannot be known who makes them."""

    __slots__ = ("_app",)

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return self._app(environ, start_response)
        except IdentityUnavailable:
            problem = NO_IDENTITY
        except RemoteCallerRefused as refusal:
            problem = Problem(403, str(refusal))
        return _refused(problem, environ, start_response)


def _nothing_but(prefix: str) -> WSGIApplication:
    problem = Problem(404, f"The service is under {prefix}, and nothing is beside it.", bare=True)

    def refuse(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _refused(problem, environ, start_response)

    return refuse


def _refused(problem: Problem, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    status, headers, body = _of_problem(problem, environ, None)
    start_response(status, headers)
    return body


class Api:
    """Answers requests: the inside of the application."""

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
            if version is LOWEST and problem.status in _DEPEND_ON_VERSION:
                problem.append(unread_header(environ.get(ENVIRON_HEADER)))
            log_problem(problem, environ)
            reply = _of_problem(problem, environ, version)
        except DatabaseFault as fault:
            # An outage has its own lines in the log. A request with an unknown outcome is logged as well.
            is_logged = fault.is_outage and not isinstance(fault, OutcomeUnknown)
            level = logging.DEBUG if is_logged else logging.ERROR
            LOG.log(level, "%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), fault)
            reply = _of_problem(unavailable(fault), environ, version)
        except TooLong as too_long:
            LOG.info("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), too_long)
            reply = _of_problem(Problem(413, str(too_long)), environ, version)
        except ConstraintFailed as failed:
            LOG.warning("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), failed)
            reply = _of_problem(Problem(400, CONSTRAINT_FAILED), environ, version)
        except ValueNotKept as unkept:
            LOG.info("%s %s: %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"), unkept)
            reply = _of_problem(Problem(400, VALUE_NOT_KEPT), environ, version)
        except Exception:
            LOG.exception("Unexpected error on %s %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO"))
            words = "An unexpected error occurred. The log of the service has more about this request."
            reply = _of_problem(Problem(500, words), environ, version)
        status, headers, body = reply
        start_response(status, headers)
        return body

    def _reply(self, environ: WSGIEnvironment, version: Version) -> Reply:
        _check_content_headers(environ)
        # The path as it came, not decoded: what is quoted from it has always been quoted like that.
        found = found_at(environ, self._router)
        if found is None:
            raise Problem(404, bare=True)
        place, params = found
        route = place.route(environ["REQUEST_METHOD"], version)
        if route is None:
            raise Problem(405, METHOD_NOT_ALLOWED, allow=place.allow)
        placement = self._placement
        if route.method == "GET":
            placement = seeing(environ, placement)
        call = ApiRequest(environ, version, params, caller_of(environ), placement, self._longest_body)
        for check in route.checks:
            check(call)
        if route.rule is not None:
            target = None if route.target is None else route.target(call)
            if not self._policy.allows(route.rule, call.caller, target):
                raise Problem(403, f"Policy does not allow {route.rule} to be performed.", bare=True)
        try:
            if route.method != "GET":
                return _of_answer(route.handler(call), call)
            return placement.read(lambda _: _of_answer(route.handler(call), call))
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
        raise Problem(400, "content-length header must be an integer", bare=True) from None
    if has_body and not environ.get("CONTENT_TYPE"):
        raise Problem(400, "content-type header required when content-length > 0", bare=True)


def _of_answer(answer: Response, call: ApiRequest) -> Reply:
    status, body, location, modified = answer
    version = call.version
    headers = [version.header, _VARIES]
    if body is not None:
        headers.append(_IS_JSON)
    if status != NO_CONTENT:
        headers.append(("content-length", str(len(body or b""))))
    if location is not None:
        headers.append(("location", _absolute(location, call.environ)))
    if modified is not UNDATED and version.has(Feature.CACHE_HEADERS):
        headers.append(_NOT_TO_BE_KEPT)
        if modified is not None:
            headers.append(("last-modified", http_date(modified)))
    return STATUS_LINES[status], headers, () if body is None else (body,)


def _of_problem(problem: Problem, environ: WSGIEnvironment, version: Version | None) -> Reply:
    with_code = version is not None and version.has(Feature.ERROR_CODES)
    content_type, body = rendered(problem, environ, environ.get(REQUEST_ID_KEY), with_code=with_code)
    headers = [("content-type", content_type), ("content-length", str(len(body)))]
    if version is not None:
        headers.append(version.header)
        if not problem.bare:
            headers.append(_VARIES)
    if problem.allow is not None:
        headers.append(("allow", problem.allow))
    if problem.retry_after is not None:
        headers.append(("retry-after", str(problem.retry_after)))
    return STATUS_LINES[problem.status], headers, (body,)


def _absolute(path: str, environ: WSGIEnvironment) -> str:
    """The address of a path of ours, as the client or the proxy in front would write it."""
    scheme = environ["wsgi.url_scheme"]
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    default = {"http": ":80", "https": ":443"}.get(scheme, ":")
    return f"{scheme}://{host.removesuffix(default)}{environ.get('SCRIPT_NAME', '')}{path}"
