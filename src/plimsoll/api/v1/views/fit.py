# SPDX-License-Identifier: Apache-2.0

"""How many instances of a request fit."""

from __future__ import annotations

from typing import Any

from plimsoll.http.response import encode_json
from plimsoll.search.fit import Fit
from plimsoll.service.fit import FitReport


def fit(report: FitReport, revision: str) -> bytes:
    return encode_json({"revision": revision, "now": _fit(report.now), "empty": _fit(report.empty)})


def _fit(one: Fit) -> dict[str, Any]:
    return {
        "instances": one.instances,
        "hosts": one.hosts,
        "exact": one.is_exact,
        "complete": one.is_complete,
        "limiting_class": one.limiting_class,
        "limits": dict(one.limits),
    }
