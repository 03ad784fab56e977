# SPDX-License-Identifier: Apache-2.0

"""Uuids in requests: in any spelling that clients have always been allowed, most of them in the usual one."""

from __future__ import annotations

import re
from uuid import UUID

from oslo_utils import uuidutils

_USUAL = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch


def is_uuid(text: object) -> bool:
    return (isinstance(text, str) and _USUAL(text) is not None) or uuidutils.is_uuid_like(text)


def as_usual(text: str) -> str | None:
    """The usual spelling of a uuid; None of what is none."""
    if _USUAL(text):
        return text
    return str(UUID(text)) if uuidutils.is_uuid_like(text) else None
