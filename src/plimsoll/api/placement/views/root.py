# SPDX-License-Identifier: Apache-2.0

"""The version document: which versions there are. Clients look at it first, before they have a token."""

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
                # Here: whatever address the client used to get this, behind however many proxies.
                "links": [{"rel": "self", "href": ""}],
            }
        ]
    }
)
