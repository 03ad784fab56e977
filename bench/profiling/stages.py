# SPDX-License-Identifier: Apache-2.0

"""Stages of a request, and the code that belongs to each.

A sample belongs to the stage of the innermost function of ours on the stack, also while that function is in a library
call; but all calls below the functions of CALLER_STAGES belong to the caller's stage.
"""

from __future__ import annotations

from pathlib import Path

import plimsoll
from bench.profiling.sampling import Frame

OURS = f"{Path(plimsoll.__file__).parent}/"

OUTSIDE = "outside of the service"

CALLER_STAGES: tuple[tuple[str, tuple[str, ...], frozenset[str]], ...] = (
    # Stage, ends of file names, functions in them: everything that these functions call belongs to the stage.
    ("commit", ("sqlalchemy/engine/base.py",), frozenset({"_commit_impl"})),
    (
        "following the head",
        (
            "ledger/current.py",
            "ledger/follow.py",
            "dialects/head_probe.py",
            "dialects/sqlite.py",
            "dialects/server.py",
        ),
        frozenset({"snapshot", "confirm", "start", "wait_for", "at_least", "at_head", "follow"}),
    ),
    ("publishing", ("ledger/snapshot.py",), frozenset({"advanced", "after"})),
)

BY_FILE: tuple[tuple[str, str], ...] = (
    # The first matching prefix of the path decides.
    ("api/placement/queries/", "parsing"),
    ("api/placement/bodies/", "parsing"),
    ("api/placement/schemas.py", "parsing"),
    ("api/placement/microversion.py", "parsing"),
    ("api/placement/preconditions.py", "parsing"),
    ("api/placement/views/", "encoding"),
    ("http/response.py", "encoding"),
    ("api/", "routing, headers, log"),
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


def classify(frames: list[Frame]) -> tuple[str, str]:
    """Return the stage, and the innermost function of ours."""
    inner = next((frame for frame in frames if frame[0].startswith(OURS)), None)
    if inner is None:
        return OUTSIDE, OUTSIDE
    file = inner[0].removeprefix(OURS)
    name = f"{file}: {inner[1]}"
    for stage, files, functions in CALLER_STAGES:
        if any(path.endswith(files) and function in functions for path, function in frames):
            return stage, name
    return next(stage for start, stage in BY_FILE if file.startswith(start)), name
