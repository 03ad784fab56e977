# SPDX-License-Identifier: Apache-2.0

"""An API request as a handler receives it: caller, version, values of the path, query string, body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from wsgiref.types import WSGIEnvironment

from plimsoll.access import Caller
from plimsoll.api.placement.errors import Refused
from plimsoll.api.placement.microversion import Version
from plimsoll.domain.actor import Actor
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal
from plimsoll.http import timings
from plimsoll.http.body import receive_body
from plimsoll.http.problems import Problem
from plimsoll.http.request_id import REQUEST_ID_KEY, global_request_id
from plimsoll.permit import Permit, permit_of
from plimsoll.service import providers
from plimsoll.service.placement import Placement

if TYPE_CHECKING:
    from plimsoll.api.placement.route import Route

T = TypeVar("T")


@dataclass(slots=True, eq=False, repr=False)
class ApiRequest:
    _route: Route
    environ: WSGIEnvironment
    version: Version
    params: dict[str, str]
    """The values in the path, by their names in the route."""
    caller: Caller
    placement: Placement
    """Of a GET: with the snapshot of this read."""
    _longest_body: int
    search_result: str | None = None
    """Set by a search for candidates: the label under which it is counted, once, also if it is computed again."""
    on_confirmed: Callable[[], None] | None = None
    """Set by the handler of a GET: is called once, when the snapshot of the response is confirmed."""

    @property
    def actor(self) -> Actor:
        environ = self.environ
        return Actor(
            self.caller.user_id,
            self.caller.project_id,
            environ.get(REQUEST_ID_KEY),
            global_request_id(environ),
        )

    @property
    def prefix(self) -> str:
        """The path under which the service is mounted. Every link in a response begins with it."""
        return str(self.environ.get("SCRIPT_NAME", ""))

    @property
    def permit(self) -> Permit:
        return permit_of(self.environ)

    @property
    def query_string(self) -> str:
        return str(self.environ.get("QUERY_STRING", ""))

    def query(self) -> Any:
        """Return the request that the query string describes, by the parser that the route declares."""
        assert self._route.query is not None
        return self._route.query(self.query_string, self.version)

    def body(self) -> Any:
        """Receive and parse the body, and validate it by the schema that the route declares."""
        assert self._route.body is not None
        timings.lap(self.environ, timings.OTHER)
        raw = receive_body(self.environ, self._longest_body)
        timings.lap(self.environ, timings.BODY)
        return self._route.body.read(raw, self.version, self.permit.periodic_yield())

    def provider(self) -> Provider:
        """Return the provider whose uuid is in the path."""
        return accepted(providers.get(self.placement, self.params["uuid"]))

    @contextmanager
    def missing_provider_first(self) -> Iterator[None]:
        """Report a missing provider before an error in the body: on a `Problem` look the provider up."""
        try:
            yield
        except Problem:
            self.provider()
            raise


def accepted(outcome: T | Refusal, **facts: Any) -> T:
    """Return the outcome, or raise `Refused` if it is a refusal; `facts` are fields for the error template."""
    if isinstance(outcome, Refusal):
        raise Refused(outcome, facts)
    return outcome
