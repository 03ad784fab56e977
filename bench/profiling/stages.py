# SPDX-License-Identifier: Apache-2.0

"""The stages of a request, and which code belongs to which.

A moment belongs to a stage by the innermost function of ours that is running then, whatever library it called; but
all that runs to follow the head, to publish or to commit belongs there.
"""

from __future__ import annotations

from pathlib import Path

import plimsoll
from bench.profiling.sampling import Place

OURS = f"{Path(plimsoll.__file__).parent}/"

HARNESS = "outside of the service"

WHOLE: tuple[tuple[str, tuple[str, ...], frozenset[str]], ...] = (
    # Stage, the ends of files, the functions in them (none for all): whoever is on the stack below these.
    ("commit", ("sqlalchemy/engine/base.py",), frozenset({"_commit_impl"})),
    (
        "following the head",
        (
            "ledger/current.py",
            "ledger/follow.py",
            "dialects/probe.py",
            "dialects/sqlite.py",
            "dialects/server.py",
        ),
        frozenset({"snapshot", "catch_up", "_catch_up", "follow", "head", "followed"}),
    ),
    ("publishing", ("ledger/snapshot.py",), frozenset({"advanced", "after"})),
)

BY_FILE: tuple[tuple[str, str], ...] = (
    # The first that the path begins with.
    ("api/placement/queries/", "parsing"),
    ("api/placement/bodies/", "parsing"),
    ("api/placement/schemas.py", "parsing"),
    ("api/placement/microversion.py", "parsing"),
    ("api/placement/preconditions.py", "parsing"),
    ("api/placement/views/", "encoding"),
    ("http/response.py", "encoding"),
    ("wire/", "routing, headers, log"),
    ("access/", "access"),
    ("service/", "deciding"),
    ("domain/", "deciding"),
    ("ledger/", "deciding"),
    ("storage/", "SQL"),
    ("search/combine/backtrack.py", "combining"),
    ("search/combine/vectorised.py", "combining"),
    ("search/combine/memo.py", "combining"),
    ("search/combine/order.py", "combining"),
    ("search/slots.py", "combining"),
    ("search/combine/assemble.py", "combining"),
    ("search/result.py", "combining"),
    ("search/", "filtering"),
    ("", "routing, headers, log"),
)

STAGES = (
    "routing, headers, log",
    "access",
    "parsing",
    "following the head",
    "filtering",
    "combining",
    "deciding",
    "SQL",
    "commit",
    "publishing",
    "encoding",
)


def classified(places: list[Place]) -> tuple[str, str]:
    """The stage, and the innermost function of ours."""
    inner = next((place for place in places if place[0].startswith(OURS)), None)
    if inner is None:
        return HARNESS, HARNESS
    file = inner[0].removeprefix(OURS)
    name = f"{file}: {inner[1]}"
    for stage, files, functions in WHOLE:
        if any(path.endswith(files) and function in functions for path, function in places):
            return stage, name
    return next(stage for start, stage in BY_FILE if file.startswith(start)), name
