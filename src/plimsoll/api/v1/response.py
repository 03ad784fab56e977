# SPDX-License-Identifier: Apache-2.0

"""The response of a handler of the Plimsoll API: a body at once or in pieces, its media type and its ETag."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.http.entity_tags import is_matched
from plimsoll.http.problems import JSON, STATUS_LINES
from plimsoll.http.response import Headers, length_header

__all__ = ["EVENTS", "JSON", "NDJSON", "NOT_MODIFIED", "TEXT", "V1Response"]

NDJSON = "application/x-ndjson"
TEXT = "text/plain"
EVENTS = "text/event-stream"
NOT_MODIFIED = 304

_WITH_CHARSET = ("text/",)


class V1Response:
    """A response. A body in pieces is an iterable that is read once, after the snapshot of the read was confirmed."""

    __slots__ = ("body", "content_type", "etag", "headers", "status")

    def __init__(
        self,
        body: bytes | Iterable[bytes],
        *,
        status: int = 200,
        content_type: str = JSON,
        etag: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.body = body
        self.status = status
        self.content_type = content_type
        self.etag = etag
        """The entity tag with its quotation marks. Equal to one in `If-None-Match`: the response becomes a 304."""
        self.headers = tuple(headers)

    def unless_matched(self, if_none_match: str | None) -> V1Response:
        """Return this response, or a 304 without a body if the client has its entity tag."""
        if self.status == 200 and is_matched(self.etag, if_none_match):
            return not_modified(self.etag, self.headers)
        return self

    def complete(self) -> V1Response:
        """Return this response with its body at once."""
        if not isinstance(self.body, bytes):
            self.body = b"".join(self.body)
        return self

    def wsgi(self, vary: str | None = None) -> tuple[str, Headers, Iterable[bytes]]:
        """Return status line, headers and body for a WSGI server. A body in pieces has no content-length."""
        headers: Headers = [*self.headers]
        if self.status != NOT_MODIFIED:
            charset = "; charset=UTF-8" if self.content_type.startswith(_WITH_CHARSET) else ""
            headers.append(("content-type", self.content_type + charset))
        if vary is not None:
            headers.append(("vary", vary))
        if self.etag is not None:
            headers += [("etag", self.etag), ("cache-control", "private, no-cache")]
        if not isinstance(self.body, bytes):
            return STATUS_LINES[self.status], headers, self.body
        if self.status != NOT_MODIFIED:
            headers.append(length_header(self.body))
        return STATUS_LINES[self.status], headers, (self.body,) if self.body else ()


def not_modified(etag: str | None, headers: Iterable[tuple[str, str]] = ()) -> V1Response:
    return V1Response(b"", status=NOT_MODIFIED, etag=etag, headers=headers)
