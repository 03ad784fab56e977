# SPDX-License-Identifier: Apache-2.0

"""Descriptions of the members of documents and of statuses, for the OpenAPI documents."""

from __future__ import annotations

from collections.abc import Mapping

MEMBERS: Mapping[str, str] = {
    "allocation_ratio": "How many times the total may be allocated.",
    "allocation_requests": "The candidates; each can be sent as the allocations of a consumer.",
    "capacity": "(total - reserved) * allocation_ratio, rounded down.",
    "code": "The kind of the error; text and meaning never change.",
    "consumer_count": "The number of consumers of this type.",
    "consumer_generation": "The generation of the consumer: the next claim names it.",
    "consumer_type": "The kind of the consumer, such as INSTANCE; `unknown` if it was written without one.",
    "detail": "The explanation of the status, a blank line, and the facts of this error.",
    "generation": "The generation of the provider: the next write of its inventories, traits or aggregates names it.",
    "mappings": "The providers that serve each group, by the suffix of the group.",
    "max_unit": "The largest amount that one consumer may hold.",
    "min_unit": "The smallest amount that one consumer may hold.",
    "parent_provider_uuid": "The parent in the tree; null for the root.",
    "provider_summaries": "The providers of the candidates and of their trees, by uuid.",
    "request_id": "The id of the request, which is in the log of the service.",
    "reserved": "The amount that is not available to consumers.",
    "resource_provider_generation": "The generation of the provider: the next write of its inventories, traits or"
    " aggregates names it.",
    "root_provider_uuid": "The root of the tree.",
    "step_size": "Amounts are multiples of it.",
    "total": "The amount that the provider has.",
    "used": "The amount that consumers hold.",
}

SENT_MEMBERS: Mapping[str, str] = {
    "consumer_generation": "The generation of the consumer as it was read; null for a consumer that must not exist yet."
    " With any other value the request is refused.",
    "consumer_type": "The kind of the consumer, such as INSTANCE or MIGRATION: capital letters, digits and `_`,"
    " `^[A-Z0-9_]+$`.",
    "generation": "Ignored: the generation of a provider does not guard a claim.",
    "resource_provider_generation": "The generation of the provider as it was read. With any other value the request is"
    " refused.",
}
"""The texts of members of request bodies, where they differ from those of responses."""
IGNORED_IF_OPTIONAL: Mapping[str, str] = {"resource_provider_generation": "Ignored."}
"""The texts of members of request bodies that are accepted and ignored where they are not required."""

STATUSES: Mapping[int, str] = {
    200: "Done; the body has the result.",
    201: "Created.",
    204: "Done; the response has no body.",
    304: "Not modified: the client has the current response.",
    400: "The request is malformed, or names something that does not exist.",
    401: "The request has no valid token.",
    403: "The policy does not allow this request.",
    404: "The resource does not exist.",
    405: "The method is not allowed for this resource.",
    406: "The response cannot be sent in a media type that the client accepts, or the version does not exist.",
    409: "Conflict with the current state: a stale generation, a name that exists, something in use, or no capacity.",
    410: "A revision that the change log no longer has.",
    413: "The body is too long.",
    414: "The URL is too long: its path, or the number of its parameters, list items or percent-encoded bytes.",
    415: "The media type of the body is not application/json.",
    431: "The URL and the headers are too long.",
    500: "A fault of the service, which has logged it.",
    503: "The database or Keystone is unavailable, or the service is overloaded. Try again later.",
}
