# SPDX-License-Identifier: Apache-2.0

"""Count the cases, and describe each failure with its request and its response.

Skipped cases and unexpected successes are failures: every case has to run and pass.
"""

import json
import traceback
import unittest
from dataclasses import dataclass
from typing import Any

LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the cases of one file."""

    file: str
    passed: int
    failures: tuple[str, ...]


class Report(unittest.TestResult):
    """A test result with one text for each failed case."""

    def __init__(self) -> None:
        super().__init__()
        self._failed: dict[str, str] = {}

    def outcome(self, file: str) -> Outcome:
        return Outcome(file, self.testsRun - len(self._failed), tuple(self._failed.values()))

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, "".join(traceback.format_exception_only(err[0], err[1])))

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, "".join(traceback.format_exception(*err)))

    def addSkip(self, test: Any, reason: str) -> None:
        if str(test) not in self._failed:
            self._note(test, f"skipped: {reason}")
            self.testsRun = max(self.testsRun, len(self._failed))

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "passed although it is declared to fail")

    def _note(self, test: Any, reason: str) -> None:
        self._failed[str(test)] = "\n".join(
            (f"FAILED {title(test)}", request_text(test), response_text(test), reason)
        )


def title(test: Any) -> str:
    data = getattr(test, "test_data", None)
    return f"{test.test_base_name}.yaml: {data['name']}" if data else str(test)


def request_text(test: Any) -> str:
    data = getattr(test, "test_data", None)
    if not data:
        return ""
    lines = [f"> {data['method']} {data['url']}"]
    lines += [f"> {name}: {value}" for name, value in data["request_headers"].items()]
    if data["data"] != "":
        lines.append(shorten(data["data"] if isinstance(data["data"], str) else json.dumps(data["data"])))
    return "\n".join(lines)


def response_text(test: Any) -> str:
    response = getattr(test, "response", None)
    if response is None:
        return "< no response"
    lines = [f"< {response['status']}"]
    shown = (
        item for item in response.items() if item[0] not in ("status", "reason", "http_protocol_version")
    )
    lines += [f"< {name}: {value}" for name, value in shown]
    lines.append(shorten(str(getattr(test, "output", ""))))
    return "\n".join(lines)


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text)} characters)"
