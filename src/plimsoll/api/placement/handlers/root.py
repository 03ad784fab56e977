# SPDX-License-Identifier: Apache-2.0

"""Handler of /: the version document."""

from __future__ import annotations

from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.views.root import VERSIONS_DOCUMENT
from plimsoll.http.response import Response, now


def versions(_: ApiRequest) -> Response:
    return Response(200, VERSIONS_DOCUMENT, modified=now())
