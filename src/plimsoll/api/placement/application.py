# SPDX-License-Identifier: Apache-2.0

"""The Placement API as a WSGI application.

A request passes, in this order: version, length of the body, route, checks of the route, policy, handler. Every
exception becomes an error response.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from wsgiref.types import StartResponse, WSGIEnvironment

from plimsoll.access import Policy, caller_of
from plimsoll.api.failures import problem_of_failure
from plimsoll.api.placement.errors import Refused, problem_of
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
from plimsoll.api.placement.refusal_log import log_problem, log_refusal
from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.route import Route
from plimsoll.api.placement.router import Router
from plimsoll.http import timings
from plimsoll.http.body import check_content_headers
from plimsoll.http.middleware.request_log import ROUTE_KEY, VERSION_KEY
from plimsoll.http.problems import JSON, STATUS_LINES, Problem, problem_reply
from plimsoll.http.response import UNDATED, Reply, Response, http_date, length_header
from plimsoll.service.placement import Placement

NO_CONTENT = 204
CONFLICT = 409
_VERSION_DEPENDENT_STATUSES = (400, 404, 405)
"""Statuses that a wrong version can cause. Their errors mention a version header that was not used."""

_VARY_HEADER = ("vary", HEADER)


@dataclass(frozen=True, slots=True, eq=False)
class PlacementApi:
    _placement: Placement
    _policy: Policy
    _router: Router
    _longest_body: int

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
        except Exception as failure:
            reply = _problem_reply(problem_of_failure(failure, environ), environ, version)
        status, headers, body = reply
        start_response(status, headers)
        return body

    def _reply(self, environ: WSGIEnvironment, version: Version) -> Reply:
        check_content_headers(environ)
        # The path is not decoded to Unicode: error texts have always quoted it as it was sent.
        found = self._router.find(environ.get("PATH_INFO", ""))
        if found is None:
            raise Problem(404, omit_vary=True)
        api_path, params = found
        environ[ROUTE_KEY] = api_path.path
        route = api_path.route(environ["REQUEST_METHOD"], version)
        if route is None:
            raise Problem(405, METHOD_NOT_ALLOWED, allow=api_path.allow)
        begun = self._placement.begin_read() if route.reads_memory else None
        call = ApiRequest(
            route, environ, version, params, caller_of(environ), self._placement, self._longest_body
        )
        for check in route.checks:
            check(call)
        self._check_policy(route, call)

        def handle(placement: Placement) -> Reply:
            call.placement = placement
            call.on_confirmed = None
            return _response_reply(route.handler(call), call)

        try:
            reply = self._placement.read(handle, begun) if route.method == "GET" else handle(self._placement)
        except Refused as refused:
            problem = problem_of(refused, route.name, params)
            log_refusal(refused.refusal, problem, environ)
            if problem.status == CONFLICT:
                self._placement.metrics.conflict(refused.refusal)
            raise problem from None
        finally:
            if call.search_result is not None:
                self._placement.metrics.search_done(call.search_result)
        if call.on_confirmed is not None:
            call.on_confirmed()
        return reply

    def _check_policy(self, route: Route, call: ApiRequest) -> None:
        if route.rule is None:
            return
        target = None if route.target is None else route.target(call)
        if not self._policy.allows(route.rule, call.caller, target):
            raise Problem(403, f"Policy does not allow {route.rule} to be performed.", omit_vary=True)


def _response_reply(response: Response, call: ApiRequest) -> Reply:
    status, body, location, modified = response
    version = call.version
    headers = [version.header, _VARY_HEADER]
    if body is not None:
        headers.append(("content-type", JSON))
    if status != NO_CONTENT:
        headers.append(length_header(body))
    if location is not None:
        headers.append(("location", _absolute(location, call.environ)))
    if modified is not UNDATED and version.has(Feature.CACHE_HEADERS):
        headers.append(("cache-control", "no-cache"))
        if modified is not None:
            headers.append(("last-modified", http_date(modified)))
    return STATUS_LINES[status], headers, () if body is None else (body,)


def _problem_reply(problem: Problem, environ: WSGIEnvironment, version: Version | None) -> Reply:
    if version is None:
        return problem_reply(problem, environ)
    headers = [version.header] if problem.omit_vary else [version.header, _VARY_HEADER]
    return problem_reply(problem, environ, headers, with_code=version.has(Feature.ERROR_CODES))


def _absolute(path: str, environ: WSGIEnvironment) -> str:
    """Return the absolute URL of a path, with the host that the client or the proxy used."""
    scheme = environ["wsgi.url_scheme"]
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    default = {"http": ":80", "https": ":443"}.get(scheme, ":")
    return f"{scheme}://{host.removesuffix(default)}{environ.get('SCRIPT_NAME', '')}{path}"
