# SPDX-License-Identifier: Apache-2.0

"""The declaration of a route of the Plimsoll API: it checks requests and is the source of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, V1Response

V1Handler = Callable[[V1Request], V1Response]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of the query."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of one value. Its `type` is string, integer or boolean: the text of the query is converted to it.

    A `default` in it is the value of an absent parameter.
    """
    repeated: bool = False
    """Whether the parameter may be given several times. Its value is a tuple, which is empty if it is absent."""
    required: bool = False
    example: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A document that routes return, by its name in the OpenAPI document."""

    name: str
    schema: Mapping[str, Any]
    """JSON Schema, draft 2020-12."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class V1Route:
    """One method of one path."""

    method: str
    path: str
    """The whole path; values are in braces: /plimsoll/v1/providers/{provider}. A value has no slash."""
    handler: V1Handler
    rule: str | None
    """The policy rule; None for routes that need neither a token nor authorization."""
    summary: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: Mapping[int, Document | None]
    """The document of each status, without the errors that any route can return."""
    formats: tuple[str, ...] = (JSON,)
    """Media types of the response. The first one is used if the client has no preference."""
    reads_snapshot: bool = True
    """Whether the handler of a GET computes its response from one snapshot. It may then be called twice."""
    candidates_query: bool = False
    """Whether the query is one for allocation candidates, beside `parameters`. The handler parses it, and refuses
    unknown parameters."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"
