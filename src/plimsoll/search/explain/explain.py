# SPDX-License-Identifier: Apache-2.0

"""Explain a request: run the search with a trace, evaluate every clause at every host, and write the summary."""

from __future__ import annotations

from plimsoll.domain.provider import Provider
from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.search import filters
from plimsoll.search.budget import Budget
from plimsoll.search.copies import emptied
from plimsoll.search.explain import facts, usual_causes
from plimsoll.search.explain import summary as words
from plimsoll.search.explain.evaluate import Evaluation, evaluate, overlaps, sole_obstacles
from plimsoll.search.explain.explanation import Clause, Explanation, ShownHosts, Verdict
from plimsoll.search.explain.host_explanations import MAX_EXAMPLES, explain_host, nearest_hosts
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.explain.slot_sets import PARTS
from plimsoll.search.find import find_candidates, has_candidates, trace_plan
from plimsoll.search.index.bitset import NONE, RowSet
from plimsoll.search.index.index import Index
from plimsoll.search.plan import NameMissing
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.trace import Trace

DEFAULT_SHOWN = ShownHosts(MAX_EXAMPLES)


def explain(
    world: World,
    index: Index,
    request: CandidatesRequest,
    order: Order,
    budget: Budget,
    *,
    provider: Provider | None = None,
    shown: ShownHosts = DEFAULT_SHOWN,
    fast_paths: FastPaths = ALL,
) -> Explanation | NameMissing:
    """Return why `request` has candidates, or none; with `provider`, also with the obstacles of its host. Raises BudgetExceeded."""
    trace = Trace()
    found = find_candidates(world, index, request, order, budget, fast_paths=fast_paths, trace=trace)
    if isinstance(found, NameMissing):
        return found
    evaluation = evaluate(Hosts(index, budget), request, trace)
    assert bool(evaluation.found) == bool(len(found.requests)), "another verdict than the search"
    verdict = Verdict.FOUND if evaluation.found else verdict_of_empty(world, index, request, budget)
    bests = _bests(evaluation)
    without = _without_candidates(evaluation, shown.clause)
    nearest = nearest_hosts(evaluation, without, shown.most) if without else []
    examples = [explain_host(evaluation, host) for host in nearest]
    return Explanation(
        candidates=len(found.requests),
        is_complete=found.is_complete,
        hosts=evaluation.hosts.all.bit_count(),
        hosts_with_candidates=evaluation.found.bit_count(),
        verdict=verdict,
        summary=words.summary(evaluation, verdict, bests),
        clauses=_clauses(evaluation, bests),
        examples=tuple(examples),
        more_hosts=without.bit_count() - len(examples),
        notes=tuple(usual_causes.notes(world, request, evaluation)),
        host=None if provider is None else explain_host(evaluation, index.row(provider.root)),
    )


def _without_candidates(evaluation: Evaluation, clause: int | None) -> RowSet:
    """Return the hosts without candidates; with the number of a clause, those that it removes."""
    if clause is None:
        return evaluation.hosts.all & ~evaluation.found
    if clause > len(evaluation.clauses):
        return NONE
    left = [evaluation.hosts.all, *evaluation.left]
    return left[clause - 1] & ~left[clause]


def verdict_of_empty(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> Verdict:
    """Return whether a request without candidates has some in the same cloud without any usage."""
    is_served = has_candidates(world, emptied(index), request, budget)
    return Verdict.NOT_NOW if is_served else Verdict.NEVER


def reason_of_none(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> str:
    """Return why a request has no candidates, for a log line: the summary, without the other parts."""
    trace = trace_plan(world, index, request, budget)
    evaluation = evaluate(Hosts(index, budget), request, trace)
    return words.reason(evaluation, _bests(evaluation))


def _bests(evaluation: Evaluation) -> list[int | None]:
    """Return, for each clause about an amount, the best value at the hosts that it removes.

    If it removes none, because they fail clauses before it: the best value at the hosts at which it fails.
    """
    found: list[int | None] = []
    before = evaluation.hosts.all
    for clause, left in zip(evaluation.clauses, evaluation.left, strict=True):
        best, removed, before = None, before & ~left, left
        if isinstance(clause.step, PARTS) and clause.failed:
            slot, number = clause.steps[0]
            concerned = evaluation.groups.slots[slot].steps[number].concerned
            best = facts.best_of(evaluation.hosts, clause.step, concerned, removed or clause.failed)
            evaluation.hosts.budget.check()
        found.append(best)
    return found


def _clauses(evaluation: Evaluation, bests: list[int | None]) -> tuple[Clause, ...]:
    left = evaluation.left
    sole = sole_obstacles(evaluation)
    overlap = overlaps(evaluation.clauses, evaluation.hosts)
    clauses = []
    for place, clause in enumerate(evaluation.clauses):
        amount = None
        if isinstance(clause.step, PARTS) and not isinstance(clause.step, filters.HasInventory):
            amount = clause.step.amount
        clauses.append(
            Clause(
                number=place + 1,
                reason=clause.reason,
                group=clause.group,
                asked=clause.asked,
                alone=clause.met.bit_count(),
                failed=clause.failed.bit_count(),
                left=left[place].bit_count(),
                sole=sole[place].bit_count(),
                overlap=overlap[place],
                resource_class=clause.resource_class,
                requested=amount,
                best=bests[place],
            )
        )
    return tuple(clauses)
