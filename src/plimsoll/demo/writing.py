# SPDX-License-Identifier: Apache-2.0

"""Write a planned cloud: providers, consumers, trouble, in this order, many requests at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, TypeVar

from plimsoll.demo.cloud import Cloud
from plimsoll.demo.hardware import CUSTOM_CLASSES, CUSTOM_TRAITS, MadeUpHost, Node
from plimsoll.demo.naming import random_uuid
from plimsoll.demo.sender import CONNECTIONS, Sender
from plimsoll.demo.trouble import HOSTS_PER_SHRUNK, Shrunk, searches, shrunk_host
from plimsoll.demo.workload import MadeUpConsumer, consumers_of

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and its total."""

CLAIMS_PER_REQUEST = 200
CLAIM_CONNECTIONS = 2
"""Requests with claims at a time: each is as large as a batch of the service."""


def is_empty(sender: Sender) -> bool:
    """Return whether the service has no providers."""
    page = sender.require("GET", "/plimsoll/v1/providers?limit=1&fields=name")
    return not page["providers"]


def write_cloud(sender: Sender, cloud: Cloud, progress: Progress) -> int:
    """Write the cloud and return its number of consumers. Raises the first failure; requests that wait are dropped."""
    _write_names(sender)
    _in_parallel(
        lambda host: _write_host(sender, host),
        (*(_pool_host(pool) for pool in cloud.pools), *cloud.hosts),
        CONNECTIONS,
        lambda done: progress("hosts", min(done, len(cloud.hosts)), len(cloud.hosts)),
    )
    shrunk: list[Shrunk] = []
    written = 0

    def counted() -> Iterator[list[MadeUpConsumer]]:
        nonlocal written
        for number, batch in enumerate(_planned_consumers(cloud, shrunk), 1):
            written += len(batch)
            progress("consumers", min(number * CLAIMS_PER_REQUEST, expected), expected)
            yield batch

    expected = max(1, len(cloud.hosts) * 14)
    _in_parallel(lambda batch: _claim(sender, batch), counted(), CLAIM_CONNECTIONS, lambda _: None)
    progress("consumers", written, max(1, written))
    queries = list(searches(cloud))
    total = len(shrunk) + len(queries)
    _in_parallel(
        lambda each: _shrink(sender, each), shrunk, CONNECTIONS, lambda done: progress("trouble", done, total)
    )
    source = random.Random(f"searches {cloud.naming.seed}")
    for number, query in enumerate(queries, 1):
        for _ in range(source.randint(1, 3)):
            search(sender, query, source)
        progress("trouble", len(shrunk) + number, total)
    return written


def search(sender: Sender, query: str, source: random.Random) -> Any:
    """Search candidates as nova does, with a request id of nova's. Return the document of the response."""
    headers = {"x-openstack-request-id": f"req-{random_uuid(source)}"}
    _, found = sender.call("GET", f"/allocation_candidates?{query}", headers=headers)
    return found


def claim_body(consumer: MadeUpConsumer, generation: int | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "allocations": {uuid: {"resources": amounts} for uuid, amounts in consumer.allocations.items()},
        "project_id": consumer.project,
        "user_id": consumer.user,
        "consumer_generation": generation,
    }
    return body if consumer.type is None else body | {"consumer_type": consumer.type}


def _write_names(sender: Sender) -> None:
    for name in CUSTOM_CLASSES:
        sender.require("PUT", f"/resource_classes/{name}")
    for name in CUSTOM_TRAITS:
        sender.require("PUT", f"/traits/{name}")


def _pool_host(pool: Node) -> MadeUpHost:
    return MadeUpHost("ceph", (pool,), None, 0.0)


def _write_host(sender: Sender, host: MadeUpHost) -> None:
    """Write the tree of a host as its agent does: provider, inventories, traits, aggregates."""
    for node in host.nodes:
        body = {"uuid": node.uuid, "name": node.name, "parent_provider_uuid": node.parent}
        sender.require("POST", "/resource_providers", body)
        parts = (
            ("inventories", "inventories", node.inventories),
            ("traits", "traits", node.traits),
            ("aggregates", "aggregates", node.aggregates),
        )
        generation = 0
        for path, member, content in parts:
            if content:
                document = {"resource_provider_generation": generation, member: content}
                response = sender.require("PUT", f"/resource_providers/{node.uuid}/{path}", document)
                generation = response["resource_provider_generation"]


def _planned_consumers(cloud: Cloud, shrunk: list[Shrunk]) -> Iterator[list[MadeUpConsumer]]:
    """Yield batches of consumers, with and without a type apart. Adds the hosts that are to shrink to `shrunk`."""
    source = random.Random(f"shrink {cloud.naming.seed}")
    untyped: list[MadeUpConsumer] = []

    def typed() -> Iterator[MadeUpConsumer]:
        eligible = 0
        for host, consumers in zip(cloud.hosts, consumers_of(cloud), strict=True):
            smaller = shrunk_host(host, consumers, source)
            if smaller is not None:
                if eligible % HOSTS_PER_SHRUNK == 2:
                    shrunk.append(smaller)
                eligible += 1
            for each in consumers:
                if each.type is None:
                    untyped.append(each)
                else:
                    yield each

    yield from _batches(typed())
    yield from _batches(iter(untyped))


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(items, CLAIMS_PER_REQUEST)):
        yield batch


def _claim(sender: Sender, batch: list[MadeUpConsumer]) -> None:
    document = {each.uuid: claim_body(each, None) for each in batch}
    if batch[0].type is not None:
        sender.require("POST", "/allocations", document)
        return
    headers = {"openstack-api-version": sender.untyped_version}
    sender.require("POST", "/allocations", document, headers)


def _shrink(sender: Sender, shrunk: Shrunk) -> None:
    provider = sender.require("GET", f"/resource_providers/{shrunk.uuid}")
    document = {"resource_provider_generation": provider["generation"], "inventories": shrunk.inventories}
    sender.require("PUT", f"/resource_providers/{shrunk.uuid}/inventories", document)


def _in_parallel(
    run: Callable[[T], None], items: Iterable[T], threads: int, done: Callable[[int], None]
) -> None:
    """Run a function for each item in some threads. At most twice as many items as threads are taken ahead."""
    finished, pending, remaining = 0, set[Future[None]](), iter(items)
    with ThreadPoolExecutor(threads, "demo") as executor:
        try:
            while True:
                for item in islice(remaining, 2 * threads - len(pending)):
                    pending.add(executor.submit(run, item))
                if not pending:
                    return
                ready, pending = wait(pending, return_when=FIRST_COMPLETED)
                for each in ready:
                    each.result()
                finished += len(ready)
                done(finished)
        finally:
            executor.shutdown(cancel_futures=True)
