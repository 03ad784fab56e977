# SPDX-License-Identifier: Apache-2.0

"""One request sent to both services, and all that is learnt from it.

A session heals the known faults of the reference that change its state, so that the two services
stay comparable for the rest of a run.
"""

from dataclasses import dataclass, replace

from tests.differential import known
from tests.differential.case import Case
from tests.differential.compare import Verdict, compare, created, of_limited
from tests.differential.recorded import associate, forget_consumer, forget_owner
from tests.differential.requests import Request, write
from tests.differential.servers import Answer, Reference, Server
from tests.differential.state import State, differences


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one request showed: equal answers, or the reasons why not."""

    request: Request
    reference: Answer
    ours: Answer
    verdict: Verdict
    faults: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return self.verdict.equal and not self.state


class Session:
    def __init__(self, reference: Server, ours: Server) -> None:
        self._reference = reference
        self._ours = ours
        self._against_reference = isinstance(ours, Reference)

    def state(self) -> State:
        return self._reference.state()

    def run(self, request: Request) -> Outcome:
        before = self.state()
        there, here = self._reference.send(request), self._ours.send(request)
        verdict, faults = self._judge(request, there, here, before)
        if request.nameless:
            self._remove_nameless(there, here)
        faults += self._heal(request, there, before)
        return Outcome(
            request, there, here, verdict, faults, tuple(differences(self.state(), self._ours.state()))
        )

    def _judge(
        self, request: Request, there: Answer, here: Answer, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        limits = request.values("limit")
        is_search = request.path == "/allocation_candidates" and request.method == "GET"
        limited = bool(limits) and limits[0].isdecimal() and limits[0] != "0"
        if is_search and limited and (there.status, here.status) == (200, 200):
            return self._judge_limited(request, int(limits[0]), there, here, before)
        return self._explained(request, there, here, compare(request, there, here), before)

    def _judge_limited(
        self, request: Request, limit: int, there: Answer, here: Answer, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        """Which candidates a limit leaves is up to each; that they are some of all is not."""
        full = request.without("limit")
        all_there, all_here = self._reference.send(full), self._ours.send(full)
        verdict, faults = self._explained(
            full, all_there, all_here, compare(full, all_there, all_here), before
        )
        headers = compare(request, replace(there, body=b""), replace(here, body=b"")).differences
        limited = (
            *of_limited(limit, there, all_there, "the reference"),
            *of_limited(limit, here, all_here, "this"),
        )
        return replace(verdict, differences=(*verdict.differences, *headers, *limited)), faults

    def _explained(
        self, request: Request, there: Answer, here: Answer, verdict: Verdict, before: State
    ) -> tuple[Verdict, tuple[str, ...]]:
        if verdict.equal and not verdict.wording:
            return verdict, ()
        case = Case(request, there, here, verdict, before, self._reference.send, self._against_reference)
        fault = known.explanation(case)
        return (verdict, ()) if fault is None else (Verdict(), (fault.name,))

    def _remove_nameless(self, there: Answer, here: Answer) -> None:
        """Providers with uuids of the servers' own choice cannot stay: the states would differ for ever."""
        for server, answer in ((self._reference, there), (self._ours, here)):
            uuid = created(answer)
            if uuid is not None:
                path = f"/resource_providers/{uuid}"
                server.send(replace(write("clean up", "DELETE", path, Request("", "", "").version)))

    def _heal(self, request: Request, there: Answer, before: State) -> tuple[str, ...]:
        """Undo what known faults of the reference have left in its database, or removed from it."""
        after = self.state()
        consumers = known.leftover_consumers(request, there, before, after)
        owners = known.leftover_owners(request, before, after, consumers)
        aggregates = known.lost_aggregates(request, there, before, after)
        for server in (self._reference, self._ours) if self._against_reference else (self._reference,):
            for uuid in consumers:
                forget_consumer(server.url, uuid)
            for table, name in owners:
                forget_owner(server.url, table, name)
            for provider, aggregate in aggregates:
                associate(server.url, provider, aggregate)
        found = (
            (known.LEFTOVER_CONSUMER, consumers),
            (known.LEFTOVER_OWNER, owners),
            (known.LOST_AGGREGATE, aggregates),
        )
        return tuple(fault.name for fault, rows in found if rows)
