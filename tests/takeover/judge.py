# SPDX-License-Identifier: Apache-2.0

"""Whether two services answer alike on the same rows: all that a client can act upon, and times to the second.

A few faults of the reference are known, and told apart from differences: see docs/differences.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from tests.differential.compare import compare, document
from tests.differential.requests import Request
from tests.differential.servers import Answer
from tests.takeover.services import Running

JUST_NOW = timedelta(seconds=5)

FAILS = "the reference answers 500"
NO_GENERATION = "a provider without a generation: null there, 0 here"


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and when it was given."""

    answer: Answer
    at: datetime

    @property
    def modified(self) -> str | None:
        """The time of last change; what never changed is said to have done so just now."""
        said = self.answer.headers.get("last-modified")
        is_now = said is not None and abs(parsedate_to_datetime(said) - self.at) < JUST_NOW
        return "now" if is_now else said


@dataclass(frozen=True, slots=True)
class Verdict:
    differences: tuple[str, ...]
    faults: dict[str, list[str]]
    """The questions that met each known fault of the reference."""


def ask(service: Running, questions: list[Request]) -> list[Said]:
    return [Said(service.send(question), datetime.now(UTC)) for question in questions]


def judge(questions: list[Request], reference: list[Said], ours: list[Said]) -> Verdict:
    found: list[str] = []
    faults: dict[str, list[str]] = {FAILS: [], NO_GENERATION: []}
    for question, there, here in zip(questions, reference, ours, strict=True):
        lines = _differences(question, there, here)
        if not lines:
            continue
        fault = _known_fault(question, there, here)
        if fault is None:
            found += [f"{question.target} at 1.{question.version.minor}: {line}" for line in lines]
        else:
            faults[fault].append(question.target)
    return Verdict(tuple(found), faults)


def _differences(question: Request, reference: Said, ours: Said) -> list[str]:
    verdict = compare(question, reference.answer, ours.answer)
    wording = [line for line in verdict.wording if not line.startswith("last-modified")]
    both = {said.answer.headers.get("last-modified") for said in (reference, ours)}
    times = {said.modified for said in (reference, ours)}
    late = (
        [f"last-modified: {reference.modified}, here {ours.modified}"]
        if min(len(both), len(times)) > 1
        else []
    )
    return [*verdict.differences, *wording, *late]


def _known_fault(question: Request, reference: Said, ours: Said) -> str | None:
    if reference.answer.status == 500 and (ours.answer.status == 200 or 400 <= ours.answer.status < 500):
        return FAILS
    completed = replace(reference, answer=_with_generations(reference.answer))
    return None if _differences(question, completed, ours) else NO_GENERATION


def _with_generations(answer: Answer) -> Answer:
    content = document(answer)
    return answer if content is None else replace(answer, body=json.dumps(_completed(content)).encode())


def _completed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: 0 if content is None and key.endswith("generation") else _completed(content)
            for key, content in value.items()
        }
    return [_completed(content) for content in value] if isinstance(value, list) else value
