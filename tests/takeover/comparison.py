# SPDX-License-Identifier: Apache-2.0

"""Compare the responses of two services on the same rows: status, body, headers, and times to the second.

Known faults of the reference are reported separately from differences: see docs/differences.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from tests.differential.compare import compare, document
from tests.differential.requests import Request
from tests.differential.servers import Response
from tests.takeover.installation import RunningService

JUST_NOW = timedelta(seconds=5)

REFERENCE_FAILS = "the reference responds with status 500"
NO_GENERATION = "a provider without a generation: null there, 0 here"


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response and the time of its receipt."""

    response: Response
    received_at: datetime

    @property
    def modified(self) -> str | None:
        """Last-Modified, or "now" if it is the current time, which services send for rows without a time."""
        modified = self.response.headers.get("last-modified")
        is_now = modified is not None and abs(parsedate_to_datetime(modified) - self.received_at) < JUST_NOW
        return "now" if is_now else modified


@dataclass(frozen=True, slots=True)
class Comparison:
    differences: tuple[str, ...]
    known_faults: dict[str, list[str]]
    """By known fault of the reference: the requests that triggered it."""


def send_all(service: RunningService, requests: list[Request]) -> list[TimedResponse]:
    return [TimedResponse(service.send(request), datetime.now(UTC)) for request in requests]


def compare_responses(
    requests: list[Request], reference: list[TimedResponse], ours: list[TimedResponse]
) -> Comparison:
    found: list[str] = []
    known_faults: dict[str, list[str]] = {REFERENCE_FAILS: [], NO_GENERATION: []}
    for request, theirs, own in zip(requests, reference, ours, strict=True):
        lines = _differences(request, theirs, own)
        if not lines:
            continue
        fault = _known_fault(request, theirs, own)
        if fault is None:
            found += [f"{request.target} at 1.{request.version.minor}: {line}" for line in lines]
        else:
            known_faults[fault].append(request.target)
    return Comparison(tuple(found), known_faults)


def _differences(request: Request, reference: TimedResponse, ours: TimedResponse) -> list[str]:
    comparison = compare(request, reference.response, ours.response)
    wording = [line for line in comparison.wording if not line.startswith("last-modified")]
    both = {each.response.headers.get("last-modified") for each in (reference, ours)}
    times = {each.modified for each in (reference, ours)}
    modified = (
        [f"last-modified: {reference.modified}, here {ours.modified}"]
        if min(len(both), len(times)) > 1
        else []
    )
    return [*comparison.differences, *wording, *modified]


def _known_fault(request: Request, reference: TimedResponse, ours: TimedResponse) -> str | None:
    if reference.response.status == 500 and (
        ours.response.status == 200 or 400 <= ours.response.status < 500
    ):
        return REFERENCE_FAILS
    with_generations = replace(reference, response=_with_generations(reference.response))
    return None if _differences(request, with_generations, ours) else NO_GENERATION


def _with_generations(response: Response) -> Response:
    content = document(response)
    return (
        response
        if content is None
        else replace(response, body=json.dumps(_fill_generations(content)).encode())
    )


def _fill_generations(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: 0 if content is None and key.endswith("generation") else _fill_generations(content)
            for key, content in value.items()
        }
    return [_fill_generations(content) for content in value] if isinstance(value, list) else value
