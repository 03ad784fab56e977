# SPDX-License-Identifier: Apache-2.0

"""The results of upgrade checks, with the codes and the format of Placement's."""

from __future__ import annotations

import enum
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.cli import tables

TITLE = "Upgrade Check Results"


class Code(enum.IntEnum):
    """The outcome of a check. The highest one is the exit status of the command."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check."""

    check: str
    code: Code = Code.SUCCESS
    details: str | None = None


def as_table(results: Sequence[Result]) -> str:
    return tables.boxed(
        TITLE,
        [
            f"Check: {result.check}\nResult: {result.code.name.capitalize()}\nDetails: {_folded(result.details)}"
            for result in results
        ],
    )


def as_json(results: Sequence[Result]) -> str:
    listed = [{"check": result.check, "result": result.code, "details": result.details} for result in results]
    return json.dumps({"name": TITLE, "checks": listed})


def _folded(details: str | None) -> str:
    return "None" if details is None else "\n".join(textwrap.wrap(details, 60, subsequent_indent="  "))
