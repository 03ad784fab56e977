# SPDX-License-Identifier: Apache-2.0

"""Send one request to both services and compare the responses and states.

A session undoes known faults of the reference that change its state, so that the two services stay comparable for the
rest of a run.
"""

from dataclasses import dataclass, replace

from tests.differential import known_faults
from tests.differential.case import Case
from tests.differential.compare import Verdict, compare, compare_limited, created_uuid
from tests.differential.database_state import delete_consumer, delete_owner, restore_aggregate
from tests.differential.requests import Request, write
from tests.differential.servers import Reference, Response, Server
from tests.differential.state import State, differences
from tests.support.openapi import placement_violations


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one request: equal responses, or the differences."""

    request: Request
    reference: Response
    ours: Response
    verdict: Verdict
    faults: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return self.verdict.equal and not self.state


def with_violations(verdict: Verdict, request: Request, ours: Response) -> Verdict:
    """Add to the differences where our response is not as its OpenAPI document describes it."""
    found = placement_violations(request.method, request.path, ours.status, ours.headers, ours.body)
    violations = (f"not as documented: {violation}" for violation in found)
    return replace(verdict, differences=(*verdict.differences, *violations)) if found else verdict


class Session:
    def __init__(self, reference: Server, ours: Server) -> None:
        self._reference = reference
        self._ours = ours
        self._against_reference = isinstance(ours, Reference)

    def state(self) -> State:
        return self._reference.state()

    def run(self, request: Request) -> Outcome:
        before = self.state()
        expected, actual = self._reference.send(request), self._ours.send(request)
        verdict, faults = self._compare(request, expected, actual, before)
        if not self._against_reference:
            verdict = with_violations(verdict, request, actual)
        if request.server_chooses_uuid:
            self._remove_created(expected, actual)
        faults += self._undo_known_faults(request, expected, before)
        return Outcome(
            request, expected, actual, verdict, faults, tuple(differences(self.state(), self._ours.state()))
        )

    def _compare(
        self, request: Request, expected: Response, actual: Response, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        limits = request.values("limit")
        is_search = request.path == "/allocation_candidates" and request.method == "GET"
        limited = bool(limits) and limits[0].isdecimal() and limits[0] != "0"
        if is_search and limited and (expected.status, actual.status) == (200, 200):
            return self._compare_limited(request, int(limits[0]), expected, actual, before)
        return self._apply_known_faults(request, expected, actual, compare(request, expected, actual), before)

    def _compare_limited(
        self, request: Request, limit: int, expected: Response, actual: Response, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        """Compare limited searches: each service may return any subset of its full result."""
        full = request.without("limit")
        all_expected, all_actual = self._reference.send(full), self._ours.send(full)
        verdict, faults = self._apply_known_faults(
            full, all_expected, all_actual, compare(full, all_expected, all_actual), before
        )
        headers = compare(request, replace(expected, body=b""), replace(actual, body=b"")).differences
        limited = (
            *compare_limited(limit, expected, all_expected, "the reference"),
            *compare_limited(limit, actual, all_actual, "this"),
        )
        return replace(verdict, differences=(*verdict.differences, *headers, *limited)), faults

    def _apply_known_faults(
        self, request: Request, expected: Response, actual: Response, verdict: Verdict, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        if verdict.equal and not verdict.wording:
            return verdict, ()
        case = Case(request, expected, actual, verdict, before, self._reference.send, self._against_reference)
        fault = known_faults.explanation(case)
        return (verdict, ()) if fault is None else (Verdict(), (fault.name,))

    def _remove_created(self, expected: Response, actual: Response) -> None:
        """Delete providers whose uuids the servers chose: otherwise the states would stay different."""
        for server, response in ((self._reference, expected), (self._ours, actual)):
            uuid = created_uuid(response)
            if uuid is not None:
                path = f"/resource_providers/{uuid}"
                server.send(replace(write("clean up", "DELETE", path, Request("", "", "").version)))

    def _undo_known_faults(self, request: Request, expected: Response, before: State) -> tuple[str, ...]:
        """Undo changes that known faults of the reference made in its database."""
        after = self.state()
        consumers = known_faults.leftover_consumers(request, expected, before, after)
        owners = known_faults.leftover_owners(request, before, after, consumers)
        aggregates = known_faults.lost_aggregates(request, expected, before, after)
        for server in (self._reference, self._ours) if self._against_reference else (self._reference,):
            for uuid in consumers:
                delete_consumer(server.url, uuid)
            for table, name in owners:
                delete_owner(server.url, table, name)
            for provider, aggregate in aggregates:
                restore_aggregate(server.url, provider, aggregate)
        found = (
            (known_faults.LEFTOVER_CONSUMER, consumers),
            (known_faults.LEFTOVER_OWNER, owners),
            (known_faults.LOST_AGGREGATE, aggregates),
        )
        return tuple(fault.name for fault, rows in found if rows)
