# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates, and summaries of the providers in them."""

from __future__ import annotations

from plimsoll.api.placement.documents.allocations import LISTED
from plimsoll.api.placement.documents.parts import AMOUNT, AMOUNTS, NAMES, UUID, UUID_OR_NULL, map_of
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.schemas import Changed, Field, ObjectSchema

_KEYED = map_of(ObjectSchema(Field("resources", AMOUNTS)))

_REQUEST = ObjectSchema(
    Field("allocations", Changed(F.KEYED_ALLOCATIONS, before=LISTED, after=_KEYED)),
    Field("mappings", map_of({"type": "array", "items": UUID}), since=F.MAPPINGS),
)

_SUMMARY = ObjectSchema(
    # A capacity is negative if more is reserved than there is, for instance after an inventory has shrunk.
    Field("resources", map_of(ObjectSchema(Field("capacity", {"type": "integer"}), Field("used", AMOUNT)))),
    Field("traits", NAMES, since=F.CANDIDATES_BY_TRAITS),
    Field("parent_provider_uuid", UUID_OR_NULL, since=F.CANDIDATES_IN_TREES),
    Field("root_provider_uuid", UUID, since=F.CANDIDATES_IN_TREES),
)

CANDIDATES = ObjectSchema(
    Field("allocation_requests", {"type": "array", "items": _REQUEST}),
    Field("provider_summaries", map_of(_SUMMARY)),
)
