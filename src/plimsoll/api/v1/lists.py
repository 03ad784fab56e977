# SPDX-License-Identifier: Apache-2.0

"""The response with a list: a document or JSON lines, at once or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import NDJSON, V1Response
from plimsoll.api.v1.views.lists import encoded_batches, json_lines, list_document

T = TypeVar("T")

MAX_AT_ONCE = 256
"""Items in a body that is built at once. A longer list is sent in pieces, while it is encoded."""


def line_headers(revision: str, following: str | None = None) -> list[tuple[str, str]]:
    """Return the headers of JSON lines, in place of members: the revision, and the cursor of the next page."""
    headers = [("plimsoll-revision", revision)]
    return headers if following is None else [*headers, ("plimsoll-next", following)]


def list_response(
    call: V1Request,
    name: str,
    items: Sequence[T],
    encode: Callable[[Sequence[T]], list[bytes]],
    *,
    etag: str,
    following: str | None = None,
    members: Mapping[str, Any] | None = None,
) -> V1Response:
    """Return a list under its name, with the revision and further members. JSON lines have the items alone.

    `following` is the cursor of the next page.
    """
    revision = call.placement.snapshot().revision
    # In a body in pieces an exception would be a failure: there, the next piece cannot be sent if the client has gone.
    batches = encoded_batches(items, encode, call.pauses(cancellable=False))
    if call.format == NDJSON:
        pieces, headers = json_lines(batches), line_headers(revision, following)
    else:
        pieces = list_document({"revision": revision, **(members or {})}, name, batches, following)
        headers = []
    body = b"".join(pieces) if len(items) <= MAX_AT_ONCE else pieces
    return V1Response(body, content_type=call.format, etag=etag, headers=headers)
