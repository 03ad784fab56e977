# SPDX-License-Identifier: Apache-2.0

"""Responses of the model, and their comparison with the responses of the real service."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.audit.operations import Completion, Operation

UNDEFINED = "placement.undefined_code"
CONCURRENT_UPDATE = "placement.concurrent_update"
DUPLICATE_NAME = "placement.duplicate_name"
INVENTORY_IN_USE = "placement.inventory.inuse"
PROVIDER_IN_USE = "placement.resource_provider.inuse"
PROVIDER_IS_PARENT = "placement.resource_provider.cannot_delete_parent"
PROVIDER_NOT_FOUND = "placement.resource_provider.not_found"


ERROR_CODES = 23
"""First minor version in which errors carry a code."""


class Response(NamedTuple):
    status: int
    body: Any = None
    """In the form of `operations.normalised`: lists are sorted."""
    code: str | None = None
    detail: str = ""
    """Text that the detail of a refusal must contain."""

    @property
    def is_refusal(self) -> bool:
        return self.status >= 400

    @property
    def sent_body(self) -> Any:
        """The body as a service would send it."""
        return {"errors": [{"code": self.code, "detail": self.detail}]} if self.is_refusal else self.body

    def __str__(self) -> str:
        if self.is_refusal:
            return f"{self.status} {self.code} {self.detail}".rstrip()
        return f"{self.status}" if self.body is None else f"{self.status} {json.dumps(self.body)}"


class Refused(Exception):
    """The request is refused; the state does not change."""

    def __init__(self, status: int, code: str = UNDEFINED, detail: str = "") -> None:
        super().__init__(status, code, detail)
        self.response = Response(status, None, code, detail)


def fits(response: Response, operation: Operation) -> bool:
    """True if the operation's response equals the model's. An unknown one may have succeeded or been refused."""
    if operation.completion is Completion.UNKNOWN:
        return True
    if operation.status != response.status:
        return False
    if response.is_refusal:
        error = operation.error
        has_code = operation.request.minor < ERROR_CODES or error.get("code") == response.code
        return has_code and response.detail in error.get("detail", "")
    return response.body is None or bool(operation.normalised_body == response.body)
