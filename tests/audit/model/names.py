# SPDX-License-Identifier: Apache-2.0

"""Custom resource classes and traits: made, asked for, removed when nothing uses them."""

from __future__ import annotations

from tests.audit.model.answers import Refused, Said
from tests.audit.model.world import Draft
from tests.audit.operations import Request


def create_class(draft: Draft, request: Request) -> Said:
    """POST /resource_classes"""
    name = request.body["name"]
    if name in draft.classes:
        raise Refused(409)
    draft.classes |= {name}
    return Said(201)


def ensure_class(draft: Draft, request: Request) -> Said:
    """PUT /resource_classes/{name}"""
    name = request.parts[1]
    is_new = name not in draft.classes
    draft.classes |= {name}
    return Said(201 if is_new else 204)


def delete_class(draft: Draft, request: Request) -> Said:
    """DELETE /resource_classes/{name}"""
    name = request.parts[1]
    if name not in draft.classes:
        raise Refused(404)
    if any(provider.has(name) for provider in draft.before.providers.values()):
        raise Refused(409)
    draft.classes -= {name}
    return Said(204)


def ensure_trait(draft: Draft, request: Request) -> Said:
    """PUT /traits/{name}"""
    name = request.parts[1]
    is_new = name not in draft.traits
    draft.traits |= {name}
    return Said(201 if is_new else 204)


def delete_trait(draft: Draft, request: Request) -> Said:
    """DELETE /traits/{name}"""
    name = request.parts[1]
    if name not in draft.traits:
        raise Refused(404)
    if any(name in provider.traits for provider in draft.before.providers.values()):
        raise Refused(409)
    draft.traits -= {name}
    return Said(204)
