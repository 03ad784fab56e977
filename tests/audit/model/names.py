# SPDX-License-Identifier: Apache-2.0

"""Rules for custom resource classes and traits: create, read, and delete while unused."""

from __future__ import annotations

from tests.audit.model.responses import Refused, Response
from tests.audit.model.state import Draft
from tests.audit.operations import Request


def create_class(draft: Draft, request: Request) -> Response:
    """POST /resource_classes"""
    name = request.body["name"]
    if name in draft.classes:
        raise Refused(409)
    draft.classes |= {name}
    return Response(201)


def ensure_class(draft: Draft, request: Request) -> Response:
    """PUT /resource_classes/{name}"""
    name = request.parts[1]
    is_new = name not in draft.classes
    draft.classes |= {name}
    return Response(201 if is_new else 204)


def delete_class(draft: Draft, request: Request) -> Response:
    """DELETE /resource_classes/{name}"""
    name = request.parts[1]
    if name not in draft.classes:
        raise Refused(404)
    if any(provider.has(name) for provider in draft.before.providers.values()):
        raise Refused(409)
    draft.classes -= {name}
    return Response(204)


def ensure_trait(draft: Draft, request: Request) -> Response:
    """PUT /traits/{name}"""
    name = request.parts[1]
    is_new = name not in draft.traits
    draft.traits |= {name}
    return Response(201 if is_new else 204)


def delete_trait(draft: Draft, request: Request) -> Response:
    """DELETE /traits/{name}"""
    name = request.parts[1]
    if name not in draft.traits:
        raise Refused(404)
    if any(name in provider.traits for provider in draft.before.providers.values()):
        raise Refused(409)
    draft.traits -= {name}
    return Response(204)
