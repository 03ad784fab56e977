# SPDX-License-Identifier: Apache-2.0

"""Schema parts that several bodies share: names, uuids, generations, owners."""

from __future__ import annotations

from plimsoll.api.placement.schemas import Plain

NAME = "^[A-Z0-9_]+$"
"""Resource classes, traits and consumer types."""
CUSTOM_NAME = "^CUSTOM_[A-Z0-9_]+$"
UUID_KEY = "^[0-9a-fA-F-]{36}$"
GROUP_SUFFIX = "[a-zA-Z0-9_-]{1,64}"
GROUP_NUMBER = "[1-9][0-9]*"

UUID: Plain = {"type": "string", "format": "uuid"}
GENERATION: Plain = {"type": "integer"}
LONGEST_OWNER = 255
OWNER: Plain = {"type": "string", "minLength": 1, "maxLength": LONGEST_OWNER}
"""The id of a project or user. Keystone chooses it, so its form is not checked."""
