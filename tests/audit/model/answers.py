# SPDX-License-Identifier: Apache-2.0

"""What the model says to a request, and whether an answer of the real service says the same."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.audit.operations import Fate, Operation

UNDEFINED = "placement.undefined_code"
CONCURRENT_UPDATE = "placement.concurrent_update"
DUPLICATE_NAME = "placement.duplicate_name"
INVENTORY_IN_USE = "placement.inventory.inuse"
PROVIDER_IN_USE = "placement.resource_provider.inuse"
PROVIDER_IS_PARENT = "placement.resource_provider.cannot_delete_parent"
PROVIDER_NOT_FOUND = "placement.resource_provider.not_found"


CODED = 23
"""From this minor version on errors carry a code."""


class Said(NamedTuple):
    status: int
    body: Any = None
    """As `operations.plain` makes it: lists are sorted."""
    code: str | None = None
    words: str = ""
    """What the text of a refusal has to contain."""

    @property
    def is_refusal(self) -> bool:
        return self.status >= 400

    @property
    def answer(self) -> Any:
        """As a service would send it."""
        return {"errors": [{"code": self.code, "detail": self.words}]} if self.is_refusal else self.body

    def __str__(self) -> str:
        if self.is_refusal:
            return f"{self.status} {self.code} {self.words}".rstrip()
        return f"{self.status}" if self.body is None else f"{self.status} {json.dumps(self.body)}"


class Refused(Exception):
    """Nothing is changed."""

    def __init__(self, status: int, code: str = UNDEFINED, words: str = "") -> None:
        super().__init__(status, code, words)
        self.said = Said(status, None, code, words)


def fits(said: Said, operation: Operation) -> bool:
    """Whether the operation may have gone as the model says. An open one may have been done, or refused."""
    if operation.fate is Fate.OPEN:
        return True
    if operation.status != said.status:
        return False
    if said.is_refusal:
        error = operation.error
        has_code = operation.request.minor < CODED or error.get("code") == said.code
        return has_code and said.words in error.get("detail", "")
    return said.body is None or bool(operation.shown == said.body)
