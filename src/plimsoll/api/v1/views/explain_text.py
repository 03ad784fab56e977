# SPDX-License-Identifier: Apache-2.0

"""An explanation as text for a terminal of 80 to 100 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from plimsoll.api.v1.views.explain import ExplanationDocument
from plimsoll.api.v1.views.relax import exclusion_text
from plimsoll.api.v1.views.relax_text import sentence
from plimsoll.search.explain.explanation import Clause, Explanation, HostExplanation, Obstacle, Verdict
from plimsoll.search.explain.query_text import listed

WIDTH = 96
_ASKED = 44
"""Characters of a clause in the table."""
_MAX_CLAUSES = 40
"""Lines of the table; the JSON has all clauses."""

_VERDICTS = {
    Verdict.FOUND: "found",
    Verdict.NOT_NOW: "not now: there would be candidates if nothing were in use",
    Verdict.NEVER: "never: there would be no candidates in an empty cloud either",
}


def text(document: ExplanationDocument) -> str:
    """Return the text. Names are quoted as they are; a terminal client replaces control characters."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: ExplanationDocument) -> Iterator[str]:
    explained = document.explained
    yield from _wrapped(explained.summary)
    yield ""
    yield f"Verdict     {_VERDICTS[explained.verdict]}"
    at_least = "" if explained.is_complete else "at least "
    yield f"Candidates  {at_least}{explained.candidates}, on {explained.hosts_with_candidates} of {explained.hosts} hosts"
    yield f"Revision    {document.revision}"
    if document.since_when is not None:
        yield ""
        yield from _wrapped(document.since_when.text())
    if explained.host is not None:
        yield ""
        yield from _host(explained.host)
    yield from _table(explained)
    yield from _examples(explained)
    yield from _section("Notes", explained.notes)
    yield from _suggestions(document)


def _table(explained: Explanation) -> Iterator[str]:
    failing = [clause for clause in explained.clauses if clause.failed]
    if failing:
        yield ""
        yield f"{'#':>3}  {'reason':<15}  {'clause':<{_ASKED}}  {'alone':>5}  {'left':>5}  {'sole':>5}  overlap"
        yield from map(_row, failing[:_MAX_CLAUSES])
    others = len(explained.clauses) - min(len(failing), _MAX_CLAUSES)
    if others and failing:
        fail = "fails" if others == 1 else "fail"
        where = "nowhere" if len(failing) <= _MAX_CLAUSES else "nowhere or are left out here"
        yield f"     {others} other clause{'' if others == 1 else 's'} {fail} {where}."


def _row(clause: Clause) -> str:
    asked = clause.asked if len(clause.asked) <= _ASKED else clause.asked[: _ASKED - 3] + "..."
    overlap = "" if clause.overlap is None else f"#{clause.overlap.clause}: {clause.overlap.hosts}"
    return (
        f"{clause.number:>3}  {clause.reason:<15}  {asked:<{_ASKED}}  {clause.alone:>5}  {clause.left:>5}"
        f"  {clause.sole:>5}  {overlap}"
    ).rstrip()


def _examples(explained: Explanation) -> Iterator[str]:
    if not explained.examples:
        return
    yield ""
    yield "Nearest hosts without candidates"
    for host in explained.examples:
        yield from _host(host, indent="  ")
    if explained.more_hosts:
        yield f"  and {explained.more_hosts} more"


def _host(host: HostExplanation, indent: str = "") -> Iterator[str]:
    if not host.obstacles:
        yield f"{indent}{host.name} ({host.uuid}) has candidates."
        return
    yield f"{indent}{host.name} ({host.uuid})"
    for words, obstacles in _by_words(host).items():
        suffixes = [obstacle.group for obstacle in obstacles if obstacle.group]
        groups = f" (group{'s' if len(suffixes) > 1 else ''} {listed(suffixes)})" if suffixes else ""
        yield from _wrapped(f"{words}{groups}", f"{indent}  #{obstacles[0].clause:<3} ", f"{indent}       ")


def _by_words(host: HostExplanation) -> dict[str, list[Obstacle]]:
    """Return the obstacles of a host by their words: equal groups have equal ones."""
    found: dict[str, list[Obstacle]] = {}
    for obstacle in host.obstacles:
        where = ""
        if obstacle.facts is not None and obstacle.provider and obstacle.provider[0] != host.uuid:
            where = f" on {obstacle.provider[1]}"
        found.setdefault(f"{obstacle.text}{where}", []).append(obstacle)
    return found


def _suggestions(document: ExplanationDocument) -> Iterator[str]:
    suggestions = document.suggestions
    yield from _section(
        "Changes that would give candidates", [sentence(each) for each in suggestions.relaxations]
    )
    yield from _section("Never together", [exclusion_text(each) for each in suggestions.exclusions])
    yield from _section("Moves that would make room", list(document.move_plans.texts()))


def _section(title: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield ""
        yield title
        for item in items:
            yield from _wrapped(item, "  ", "    ")


def _wrapped(line: str, first: str = "", rest: str = "") -> list[str]:
    return wrap(
        line,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
