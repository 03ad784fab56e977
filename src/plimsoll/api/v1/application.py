# SPDX-License-Identifier: Apache-2.0

"""The Plimsoll API as a WSGI application.

A request passes, in this order: route, policy, media type of the response, parameters of the query, handler. Every
exception becomes an error response, with the same error document as in the Placement API.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from webob.acceptparse import create_accept_header

from plimsoll.access import Policy, caller_of
from plimsoll.api.failures import problem_of_failure
from plimsoll.api.placement.errors import Refused, problem_of
from plimsoll.api.placement.preconditions import METHOD_NOT_ALLOWED
from plimsoll.api.placement.refusal_log import log_problem, log_refusal
from plimsoll.api.v1.as_of import placement_as_of
from plimsoll.api.v1.parameters import ParameterReader
from plimsoll.api.v1.paths import PathTable
from plimsoll.api.v1.request import REFUSALS_AS_OF, V1Request
from plimsoll.api.v1.response import EVENTS, JSON, NDJSON, V1Response
from plimsoll.api.v1.route import V1Route
from plimsoll.bounded_cache import bounded_cache
from plimsoll.domain.refusals import SearchAbandoned
from plimsoll.http import timings
from plimsoll.http.body import check_content_headers
from plimsoll.http.middleware.request_log import ROUTE_KEY
from plimsoll.http.problems import LONGEST_QUOTE, Problem, problem_reply, shorten
from plimsoll.search.budget import SearchCancelled
from plimsoll.service.placement import Placement

OWN_PROJECT = ("plimsoll-projects", "own")
"""A header of responses that leave out other projects, because policy does not show them to the caller."""


class V1Api:
    def __init__(self, placement: Placement, policy: Policy, routes: Iterable[V1Route]) -> None:
        routes = tuple(routes)
        self._placement = placement
        self._policy = policy
        self._paths = PathTable(routes)
        self._readers = {route: ParameterReader(route) for route in routes}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        timings.lap(environ, timings.AUTHENTICATION)
        try:
            status, headers, body = self._reply(environ)
        except Problem as problem:
            log_problem(problem, environ)
            status, headers, body = _problem_reply(problem, environ)
        except Exception as failure:
            status, headers, body = _problem_reply(problem_of_failure(failure, environ), environ)
        start_response(status, headers)
        return body

    def _reply(self, environ: WSGIEnvironment) -> tuple[str, list[tuple[str, str]], Iterable[bytes]]:
        check_content_headers(environ)
        route, params = self._find_route(environ)
        environ[ROUTE_KEY] = route.path
        caller = caller_of(environ)
        if route.rule is not None and not self._policy.allows(route.rule, caller):
            raise Problem(403, f"Policy does not allow {route.rule} to be performed.")
        reader, query_string = self._readers[route], environ.get("QUERY_STRING", "")
        call = V1Request(
            route,
            environ,
            params,
            caller,
            self._placement,
            format=_negotiated((environ.get("HTTP_ACCEPT", ""), route.formats)),
            values=reader(query_string),
            candidates_query=reader.others(query_string) if route.candidates_query else "",
            _policy=self._policy,
        )

        def handle(placement: Placement) -> V1Response:
            try:
                call.placement = placement if "at" not in call.values else placement_as_of(call, placement)
                return route.handler(call)
            except SearchCancelled:
                raise Refused(SearchAbandoned(), {}) from None

        # The past does not depend on the newest snapshot, which need not be confirmed.
        reads_snapshot = route.method == "GET" and route.reads_snapshot and "at" not in call.values
        try:
            response = self._placement.read(handle) if reads_snapshot else handle(self._placement)
        except Refused as refused:
            problem = problem_of(refused, REFUSALS_AS_OF, params)
            log_refusal(refused.refusal, problem, environ)
            raise problem from None
        response = response.unless_matched(environ.get("HTTP_IF_NONE_MATCH"))
        status, headers, body = response.wsgi(vary="accept" if len(route.formats) > 1 else None)
        if call.is_own_project:
            headers.append(OWN_PROJECT)
        return status, headers, body

    def _find_route(self, environ: WSGIEnvironment) -> tuple[V1Route, dict[str, str]]:
        path = _decoded(environ.get("PATH_INFO", ""))
        found = self._paths.find(path)
        if found is None:
            raise Problem(
                404,
                f"There is nothing at {shorten(path, LONGEST_QUOTE)}. The paths are listed at /plimsoll/v1/docs.",
            )
        v1_path, params = found
        route = v1_path.by_method.get(environ["REQUEST_METHOD"])
        if route is None:
            raise Problem(405, METHOD_NOT_ALLOWED, allow=v1_path.allow)
        return route, params


def _decoded(path: str) -> str:
    """Return the path as text: WSGI passes its bytes as Latin-1."""
    try:
        return path.encode("latin-1").decode()
    except UnicodeError:
        raise Problem(400, "The path of the URL is not UTF-8.") from None


def _problem_reply(
    problem: Problem, environ: WSGIEnvironment
) -> tuple[str, list[tuple[str, str]], Iterable[bytes]]:
    accept = environ.get("HTTP_ACCEPT", "")
    if NDJSON in accept or EVENTS in accept:  # such a client reads JSON, and would get plain text
        environ = {**environ, "HTTP_ACCEPT": JSON}
    return problem_reply(problem, environ, with_code=True)


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _negotiated(accept_and_formats: tuple[str, tuple[str, ...]]) -> str:
    """Return the media type of the response; raise a `Problem` if the client accepts none of them."""
    accept, formats = accept_and_formats
    offers = create_accept_header(accept or None).acceptable_offers(formats)
    if offers:
        return str(offers[0][0])
    if accept == JSON:  # the request log sets it if the client has no preference
        return formats[0]
    raise Problem(406, f"This resource is provided as {' or '.join(formats)}.")
