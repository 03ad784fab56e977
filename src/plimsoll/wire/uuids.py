# SPDX-License-Identifier: Apache-2.0

"""Uuids in requests: in any spelling that clients have always been allowed, most of them in the usual one."""

from __future__ import annotations

import re
from uuid import UUID

from oslo_utils import uuidutils

_USUAL = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch


def is_uuid(text: object) -> bool:
    return (isinstance(text, str) and _USUAL(text) is not None) or uuidutils.is_uuid_like(text)


def as_usual(uuid: str) -> str:
    """The usual spelling of what is a uuid."""
    return uuid if _USUAL(uuid) else str(UUID(uuid))
