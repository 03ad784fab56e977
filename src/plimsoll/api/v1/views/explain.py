# SPDX-License-Identifier: Apache-2.0

"""The JSON of an explanation."""

from __future__ import annotations

from typing import Any

import orjson

from plimsoll.api.v1.views.make_room import ShownMovePlans
from plimsoll.api.v1.views.relax import exclusion, relaxation
from plimsoll.api.v1.views.since_when import ShownSinceWhen
from plimsoll.domain.values import unhashable_value
from plimsoll.search.explain.explanation import Clause, Explanation, HostExplanation, Obstacle
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.explain import Suggestions


@unhashable_value
class ExplanationDocument:
    """The parts of the response, from which its JSON and its text are made."""

    revision: str
    query: str
    request: CandidatesRequest
    explained: Explanation
    suggestions: Suggestions
    move_plans: ShownMovePlans
    since_when: ShownSinceWhen | None = None


def explanation(parts: ExplanationDocument) -> bytes:
    explained = parts.explained
    document: dict[str, Any] = {
        "revision": parts.revision,
        "verdict": str(explained.verdict),
        "summary": explained.summary,
        "candidates": explained.candidates,
        "is_complete": explained.is_complete,
        "hosts": explained.hosts,
        "hosts_with_candidates": explained.hosts_with_candidates,
        "clauses": list(map(_clause, explained.clauses)),
        "examples": list(map(_host, explained.examples)),
        "more_hosts": explained.more_hosts,
        "notes": list(explained.notes),
        "relax": [relaxation(each, parts.query, parts.request) for each in parts.suggestions.relaxations],
        "relax_is_complete": parts.suggestions.is_complete,
        "never_together": list(map(exclusion, parts.suggestions.exclusions)),
        "make_room": parts.move_plans.documents(),
        "make_room_is_complete": parts.move_plans.move_plans.is_complete,
    }
    if parts.since_when is not None:
        document["since_when"] = parts.since_when.document()
    if explained.host is not None:
        document["provider"] = _host(explained.host)
    return orjson.dumps(document)


def _clause(clause: Clause) -> dict[str, Any]:
    document: dict[str, Any] = {
        "number": clause.number,
        "reason": clause.reason,
        "group": clause.group,
        "asked": clause.asked,
        "alone": clause.alone,
        "failed": clause.failed,
        "left": clause.left,
        "sole": clause.sole,
        "overlap": clause.overlap,
    }
    for name, value in (
        ("resource_class", clause.resource_class),
        ("requested", clause.requested),
        ("best", clause.best),
    ):
        if value is not None:
            document[name] = value
    return document


def _host(host: HostExplanation) -> dict[str, Any]:
    return {"uuid": host.uuid, "name": host.name, "obstacles": list(map(_obstacle, host.obstacles))}


def _obstacle(obstacle: Obstacle) -> dict[str, Any]:
    document: dict[str, Any] = {
        "clause": obstacle.clause,
        "reason": obstacle.reason,
        "group": obstacle.group,
        "text": obstacle.text,
    }
    if obstacle.provider is not None:
        document["provider"] = {"uuid": obstacle.provider[0], "name": obstacle.provider[1]}
    if obstacle.facts is not None:
        document["facts"] = obstacle.facts
    return document
