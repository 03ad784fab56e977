# SPDX-License-Identifier: Apache-2.0

"""Uuids in requests, in any form that the reference accepts. The canonical form, the most frequent, is tested first."""

from __future__ import annotations

import re
from uuid import UUID

from oslo_utils import uuidutils

_is_canonical = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch


def is_uuid(text: object) -> bool:
    return (isinstance(text, str) and _is_canonical(text) is not None) or uuidutils.is_uuid_like(text)


def canonical_uuid(text: str) -> str | None:
    """Return the canonical form of a uuid; None if the text is not a uuid."""
    if _is_canonical(text):
        return text
    return str(UUID(text)) if uuidutils.is_uuid_like(text) else None
