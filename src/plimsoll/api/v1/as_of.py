# SPDX-License-Identifier: Apache-2.0

"""The parameter `at`: the response as of an earlier revision or time."""

from __future__ import annotations

import re

from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.route import Parameter
from plimsoll.api.v1.times import TIME_OR_AGE, parse_time
from plimsoll.http.problems import CHANGES_OTHER_HISTORY, CHANGES_PRUNED, CHANGES_UNFINISHED, Problem
from plimsoll.service import history
from plimsoll.service.history import NoSuchPast, PastRevision, PastUnfinished
from plimsoll.service.placement import Placement

_REVISION = r"(?:([0-9a-f]{8}):)?([0-9]{1,18})"
_read_revision = re.compile(_REVISION).fullmatch
_TIME = str(TIME_OR_AGE["pattern"]).strip("^$")

AT = Parameter(
    "at",
    "As of then: a revision (`EPOCH:NUMBER`, or its number), a time in UTC, or an age such as `30m`, `12h` or `7d`."
    " Changes of the log since then are undone.",
    {"type": "string", "maxLength": 64, "pattern": rf"^({_REVISION}|{_TIME})$"},
    example="2026-11-18T12:00:00Z",
)


def placement_as_of(call: V1Request, placement: Placement) -> Placement:
    """Return the context of a read as of the parameter `at`; raise a `Problem` if the log does not reach so far back."""
    text, permit = call.values["at"], call.permit
    revision = _read_revision(text)
    when = (
        parse_time("at", text, history.now())
        if revision is None
        else PastRevision(revision[1], int(revision[2]))
    )
    permit.begin_computation()
    found = history.as_of(placement, when, permit.pause, permit.is_client_gone)
    if isinstance(found, NoSuchPast):
        raise _no_such_past(text, found)
    if isinstance(found, PastUnfinished):
        raise Problem(
            503,
            f"Undoing the changes since then takes more than {history.UNDO_SECONDS:.0f} s. They are undone down to revision"
            f" {found.reached}; try again to continue from there.",
            CHANGES_UNFINISHED,
            retry_after=1,
        )
    return found


def _no_such_past(text: str, found: NoSuchPast) -> Problem:
    facts = (("lowest", found.lowest), ("highest", found.highest))
    if found.is_other_history:
        detail = (
            f"There is no revision {text} in the history of this database. It is now at {found.highest}; the lowest"
            f" revision that can be shown is {found.lowest}."
        )
        return Problem(410, detail, CHANGES_OTHER_HISTORY, facts=facts)
    detail = f"The change log does not reach back to {text}. The lowest revision that can be shown is {found.lowest}."
    return Problem(410, detail, CHANGES_PRUNED, facts=facts)
