# SPDX-License-Identifier: Apache-2.0

"""The version document."""

from __future__ import annotations

from plimsoll.wire.answers import Answer, now
from plimsoll.wire.call import Call
from plimsoll.wire.views.root import VERSIONS_DOCUMENT


def versions(_: Call) -> Answer:
    return Answer(200, VERSIONS_DOCUMENT, modified=now())
