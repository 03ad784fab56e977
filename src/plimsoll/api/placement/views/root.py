# SPDX-License-Identifier: Apache-2.0

"""The version document: the supported versions. Clients read it first, before they have a token."""

from __future__ import annotations

import orjson

from plimsoll.api.placement.microversion import HIGHEST, LOWEST

VERSIONS_DOCUMENT = orjson.dumps(
    {
        "versions": [
            {
                "id": f"v{LOWEST}",
                "max_version": HIGHEST.text,
                "min_version": LOWEST.text,
                "status": "CURRENT",
                # Empty: relative to the URL that the client used, behind any number of proxies.
                "links": [{"rel": "self", "href": ""}],
            }
        ]
    }
)
