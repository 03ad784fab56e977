# SPDX-License-Identifier: Apache-2.0

"""A request to the Plimsoll API as a handler receives it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from wsgiref.types import WSGIEnvironment

from plimsoll.access import Caller, Policy
from plimsoll.api.placement.microversion import ENVIRON_HEADER, HIGHEST, Version, names_version, negotiate
from plimsoll.api.v1.response import V1Response, not_modified
from plimsoll.domain.provider import Provider
from plimsoll.http.entity_tags import is_matched
from plimsoll.http.problems import LONGEST_QUOTE, PROVIDER_NOT_FOUND, Problem, shorten
from plimsoll.permit import Permit, permit_of
from plimsoll.search.budget import Budget
from plimsoll.service.names import find_provider
from plimsoll.service.placement import Placement

if TYPE_CHECKING:
    from plimsoll.api.v1.route import V1Route

REFUSALS_AS_OF = "GET /allocation_candidates"
"""The route of the Placement API whose error texts refusals get."""
ALL_PROJECTS = "plimsoll:projects:all"
"""The policy rule of callers that may see the consumers and searches of all projects."""


@dataclass(slots=True, eq=False, repr=False)
class V1Request:
    route: V1Route
    environ: WSGIEnvironment
    params: Mapping[str, str]
    """The values in the path, by their names in the route."""
    caller: Caller
    placement: Placement
    """Of a GET: with the snapshot of this read."""
    values: Mapping[str, Any]
    """The parameters of the query, converted by their schemas. Absent ones are missing, unless they have a default."""
    format: str
    """The media type of the response: one of the formats of the route."""
    candidates_query: str
    """The query string without the parameters of the route, if the rest is a query for allocation candidates."""
    _policy: Policy
    is_own_project: bool = False
    """Whether the response has the data of the caller's project only, because the caller may not see that of others."""

    @property
    def permit(self) -> Permit:
        return permit_of(self.environ)

    @property
    def query_string(self) -> str:
        return str(self.environ.get("QUERY_STRING", ""))

    @property
    def version(self) -> Version:
        """The microversion in which a query for allocation candidates is parsed: the newest without a header."""
        header = self.environ.get(ENVIRON_HEADER)
        return negotiate(header) if header and names_version(header) else HIGHEST

    @property
    def sees_all_projects(self) -> bool:
        """Whether the caller may see consumers and searches of all projects, or only those of the token's project."""
        return self._policy.allows(ALL_PROJECTS, self.caller)

    @property
    def visibility(self) -> str:
        """A text for entity tags, equal for callers that may see the same projects."""
        if self.sees_all_projects:
            return "all"
        return blake2b((self.caller.project_id or "").encode(), digest_size=8).hexdigest()

    def etag(self, *more: str) -> str:
        """Return the entity tag of a response that depends on the snapshot, the URL and the format alone.

        `more` has whatever else the response depends on, as short texts.
        """
        snapshot = self.placement.snapshot()
        return self.etag_at(snapshot.revision, snapshot.head.mark, *more)

    def etag_at(self, revision: str, mark: int, *more: str) -> str:
        """Return the entity tag of a response that was read from the database at this revision."""
        kind = self.format.rpartition("/")[2]
        return '"' + ":".join((revision, f"{mark:x}", kind, *more)) + '"'

    def provider_named(self, text: str, *, otherwise: int = 400, note: str = "") -> Provider:
        """Return the provider with this uuid or name; raise a `Problem` with the status `otherwise` if there is none.

        `note` is appended to its text.
        """
        provider = find_provider(self.placement.world(), text)
        if provider is None:
            detail = f"No resource provider has the uuid or name '{shorten(text, LONGEST_QUOTE)}'{note}."
            raise Problem(otherwise, detail, PROVIDER_NOT_FOUND)
        return provider

    def unchanged(self, etag: str) -> V1Response | None:
        """Return a 304 if the client has the response with this entity tag; None if a body must be built."""
        if is_matched(etag, self.environ.get("HTTP_IF_NONE_MATCH")):
            return not_modified(etag)
        return None

    def pauses(self, *, cancellable: bool = True) -> Callable[[], object]:
        """Return a function that a loop without a time limit calls at each step, to yield to other requests.

        It raises `SearchCancelled` if the client has closed its connection, unless the loop is not `cancellable`.
        """
        permit = self.permit
        is_cancelled = permit.is_client_gone if cancellable else lambda: False
        return Budget(clock=time.monotonic, pause=permit.pause, is_cancelled=is_cancelled).pause_if_due
