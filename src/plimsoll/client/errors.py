# SPDX-License-Identifier: Apache-2.0

"""Failures of a request as exceptions. The text of each is one line."""

from __future__ import annotations

import re
from typing import Any

LONGEST_TEXT = 500
"""Characters of a text from the service that an exception quotes."""


class ClientFailure(Exception):
    """A request got no usable response."""


class UnreachableService(ClientFailure):
    """No connection, no response in time, or a TLS certificate that is not trusted."""


class RefusedRequest(ClientFailure):
    """The service sent an error document; its facts are attributes."""

    def __init__(
        self, status: int, title: str, detail: str, code: str | None, request_id: str | None
    ) -> None:
        self.status = status
        self.title = title
        self.detail = detail
        self.code = code
        self.request_id = request_id
        text = f"{status} {title}: {one_line(detail)}" if detail else f"{status} {title}"
        super().__init__(f"{text} ({request_id})" if request_id else text)


def refusal_of(status: int, reason: str, document: Any) -> RefusedRequest:
    """Return the refusal that an error document describes. A body of another form (a proxy's page) is not quoted."""
    try:
        error = document["errors"][0]
        detail = str(error.get("detail") or "")
    except (AttributeError, IndexError, KeyError, TypeError):
        return RefusedRequest(status, reason, "", None, None)
    # The first paragraph is a general explanation of the status.
    specific = detail.partition("\n\n")[2].strip() or detail.strip()
    return RefusedRequest(
        status, str(error.get("title") or reason), specific, error.get("code"), error.get("request_id")
    )


def reason_of(error: BaseException) -> str:
    """Return the address and the reason of a failed connection. Libraries wrap both in long texts."""
    address = re.search(r"https?://[^\s?]+", str(error))
    causes = _causes(error)
    system = next((each.strerror for each in causes if isinstance(each, OSError) and each.strerror), None)
    if address is None or system is None:
        return one_line(str(error))
    return f"{address[0].rstrip(':')} cannot be reached: {one_line(system)}"


def _causes(error: BaseException) -> list[BaseException]:
    """Return the exception and those that caused it, the first cause first."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.insert(0, current)
        current = current.__cause__ or current.__context__
    return found


def one_line(text: str) -> str:
    """Return the text in one line of bounded length, without control characters, which a terminal interprets."""
    line = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split())
    )
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}..."
