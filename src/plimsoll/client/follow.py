# SPDX-License-Identifier: Apache-2.0

"""Follow the changes of a cloud: `load` reads everything once, `follow` yields each later change once and in order.

loaded = load(client)
for change in follow(client, loaded.revision):
    ...  # apply it, and store change["cursor"]: `follow` resumes exactly after it
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from plimsoll.client.errors import RefusedRequest, UnreachableService
from plimsoll.client.v1_client import V1Client

WAIT_SECONDS = 25
"""That a request waits for the next change. Shorter than the timeout of a client and of most proxies."""
FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.5, 30.0
RETRIED = frozenset((429, 500, 502, 503, 504))
"""Statuses after which a later attempt may succeed."""
GONE = 410
CONSUMERS_PER_PAGE = 1_000

Conditions = Mapping[str, str | Iterable[str]]
"""Parameters of the route that select changes: {"operation": ["allocations.claim"], "provider": "node-1"}."""


class FeedLost(RefusedRequest):
    """The change log no longer has what comes after the cursor: load everything again."""

    def __init__(self, refusal: RefusedRequest) -> None:
        super().__init__(refusal.status, refusal.title, refusal.detail, refusal.code, refusal.request_id)


class ReloadNeeded(Exception):
    """The log does not describe a change: load everything again."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadedCloud:
    """Everything, as the lists of providers and consumers show it."""

    providers: list[dict[str, Any]]
    consumers: list[dict[str, Any]]
    revision: str
    """The lowest revision of the responses: follow from here on. A change that a response contains already is applied again,
    which has no effect once the changes up to the last response were applied."""


def load(client: V1Client) -> LoadedCloud:
    """Read all providers and consumers. They are read in several requests, between which the cloud may change."""
    document = client.document("consumers?limit=1")
    revision = document["revision"]
    consumers: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        query = {"limit": CONSUMERS_PER_PAGE} | ({"after": after} if after else {})
        document = client.document(f"consumers?{urlencode(query)}")
        consumers += document["consumers"]
        after = document["next"]
    return LoadedCloud(client.document("providers")["providers"], consumers, revision)


def follow(
    client: V1Client,
    since: str,
    conditions: Conditions | None = None,
    *,
    wait: int = WAIT_SECONDS,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[dict[str, Any]]:
    """Yield the changes after a revision or cursor, each once and in order, and wait for more. It does not end by itself.

    `change["cursor"]` resumes right after a change. Failed requests are repeated with backoff; no change is lost or repeated by that.
    Raises FeedLost and ReloadNeeded, after which everything has to be loaded again, and other failures that a retry does
    not solve.
    """
    for page in pages(client, since, conditions, wait=wait, sleep=sleep):
        for change in page["changes"]:
            if change["reload"]:
                raise ReloadNeeded(f"Change {change['revision']} ({change['operation']}) is not described.")
            yield change


def pages(
    client: V1Client,
    since: str,
    conditions: Conditions | None = None,
    *,
    wait: int = WAIT_SECONDS,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[dict[str, Any]]:
    """Yield the documents of `/plimsoll/v1/changes`, also those without changes. `next` resumes after a document."""
    cursor, failures = since, 0
    while True:
        query = urlencode({"since": cursor, "wait": wait, **(conditions or {})}, doseq=True)
        try:
            document = client.document(f"changes?{query}")
        except UnreachableService:
            failures += 1
        except RefusedRequest as refusal:
            if refusal.status == GONE:
                raise FeedLost(refusal) from None
            if refusal.status not in RETRIED:
                raise
            failures += 1
        else:
            failures, cursor = 0, document["next"]
            yield document
            continue
        sleep(_backoff(failures))


def _backoff(failures: int) -> float:
    """Return the seconds before the next attempt, with a random part: not all followers retry at the same time."""
    longest = min(FIRST_BACKOFF_SECONDS * 2 ** (failures - 1), MAX_BACKOFF_SECONDS)
    return float(longest * random.uniform(0.5, 1.0))
