# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.api.v1.times import format_time
from plimsoll.domain.unplaced import SearchSummary, UnplacedEntry, UnplacedRequest
from plimsoll.http.response import encode_json


def unplaced(entries: Iterable[UnplacedEntry], revision: str, next_page: str | None) -> bytes:
    return encode_json(
        {"revision": revision, "unplaced": [_entry(each) for each in entries], "next": next_page}
    )


def lines(entries: Iterable[UnplacedEntry]) -> bytes:
    """Return one JSON document per line."""
    return b"".join(encode_json(_entry(each)) + b"\n" for each in entries)


def _entry(entry: UnplacedEntry) -> dict[str, Any]:
    return {
        "project": entry.query.project,
        "user": entry.user,
        "query": entry.query.query,
        "microversion": entry.query.microversion,
        "searches": entry.searches,
        "first_at": format_time(entry.first_at),
        "last_at": format_time(entry.last_at),
        **_why(entry.why),
        "requests": [_request(each) for each in entry.requests],
    }


def _request(request: UnplacedRequest) -> dict[str, Any]:
    return {
        "at": format_time(request.at),
        "request_id": request.request_id,
        "global_request_id": request.global_request_id,
        "user": request.user,
        **_why(request.why),
    }


def _why(why: SearchSummary) -> dict[str, Any]:
    return {"revision": why.revision, "reason": why.reason, "verdict": why.verdict, "summary": why.summary}
