# SPDX-License-Identifier: Apache-2.0

"""The summary: one sentence that counts each host once, at the first clause that it fails."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.search.explain.evaluate import Evaluation
from plimsoll.search.explain.explanation import Verdict
from plimsoll.search.explain.failure_text import predicate

_MAX_PHRASES = 5
"""Clauses that are named, those with the most hosts; of more, only the number of hosts is given."""

_BEGINNING = {
    Verdict.NOT_NOW: "No candidates: ",
    Verdict.NEVER: "No candidates, even if nothing were in use: ",
}


def summary(evaluation: Evaluation, verdict: Verdict, bests: Sequence[int | None]) -> str:
    if verdict == Verdict.FOUND:
        return _of_found(evaluation, bests)
    return f"{_BEGINNING[verdict]}{reason(evaluation, bests)}."


def reason(evaluation: Evaluation, bests: Sequence[int | None]) -> str:
    """Return why no host has candidates, without full stop, for a log line."""
    hosts = evaluation.hosts.all.bit_count()
    if not hosts:
        return "there are no resource providers"
    removed = _removed(evaluation)
    if len(removed) == 1:
        number, _ = removed[0]
        every = f"all {hosts} hosts" if hosts > 1 else "the only host"
        return f"{every} {_phrase(evaluation, number, bests, many=hosts > 1)}"
    return f"of {hosts} hosts, {_phrases(evaluation, removed, bests)}"


def _of_found(evaluation: Evaluation, bests: Sequence[int | None]) -> str:
    hosts, found = evaluation.hosts.all.bit_count(), evaluation.found.bit_count()
    if hosts == found:
        return f"Candidates on all {hosts} hosts." if hosts > 1 else "Candidates on the only host."
    others = _phrases(evaluation, _removed(evaluation), bests)
    return f"Candidates on {found} of {hosts} hosts; of the others, {others}."


def _removed(evaluation: Evaluation) -> list[tuple[int, int]]:
    """Return the clauses that remove hosts, with the number of these hosts: most first, then the nearest to success."""
    before, removed = evaluation.hosts.all, []
    for number, left in enumerate(evaluation.left):
        if count := (before & ~left).bit_count():
            removed.append((number, count))
        before = left
    return sorted(removed, key=lambda each: (-each[1], -each[0]))


def _phrases(evaluation: Evaluation, removed: Sequence[tuple[int, int]], bests: Sequence[int | None]) -> str:
    phrases = [
        f"{count} {_phrase(evaluation, number, bests, many=count > 1)}"
        for number, count in removed[:_MAX_PHRASES]
    ]
    if rest := sum(count for _, count in removed[_MAX_PHRASES:]):
        phrases.append(f"{rest} {'fail' if rest > 1 else 'fails'} other clauses")
    return ", ".join(phrases)


def _phrase(evaluation: Evaluation, number: int, bests: Sequence[int | None], *, many: bool) -> str:
    clause = evaluation.clauses[number]
    words = predicate(clause, bests[number], many=many)
    suffixes = {each.group for each in evaluation.clauses if each.group is not None}
    return f"{words} (group {clause.group})" if clause.group and len(suffixes) > 1 else words
