# SPDX-License-Identifier: Apache-2.0

"""The JSON of an explanation."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from plimsoll.api.placement.queries.changed_query import changed_query
from plimsoll.api.v1.views.changes import sentence
from plimsoll.domain.values import unhashable_value
from plimsoll.search.explain.explanation import Clause, Explanation, HostStory, Obstacle
from plimsoll.search.relax.relaxations import Relaxation
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.explain import Suggestions


@unhashable_value
class Answer:
    """All that a response has."""

    revision: str
    query: str
    request: CandidatesRequest
    explained: Explanation
    suggestions: Suggestions


def explanation(answer: Answer) -> bytes:
    explained = answer.explained
    document: dict[str, Any] = {
        "revision": answer.revision,
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
        "relax": [_relaxation(answer, each) for each in answer.suggestions.relaxations],
    }
    if explained.host is not None:
        document["provider"] = _host(explained.host)
    return orjson.dumps(document)


def _clause(clause: Clause) -> dict[str, Any]:
    fields = asdict(clause)
    return {
        name: value
        for name, value in fields.items()
        if value is not None or name not in ("resource_class", "requested", "best")
    }


def _host(story: HostStory) -> dict[str, Any]:
    return {"uuid": story.uuid, "name": story.name, "obstacles": list(map(_obstacle, story.obstacles))}


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
        document["facts"] = asdict(obstacle.facts)
    return document


def _relaxation(answer: Answer, each: Relaxation) -> dict[str, Any]:
    return {
        "text": sentence(each),
        "query": changed_query(answer.query, answer.request, each.request),
        "hosts": each.found.hosts,
        "candidates": each.found.candidates,
        "is_exact": each.found.is_exact,
    }
