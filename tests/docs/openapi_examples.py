# SPDX-License-Identifier: Apache-2.0

"""Write the examples of the OpenAPI documents: `make docs`. They are answers of a real service with the sample cloud.

For the Placement API each request is sent at every version at which its route exists. The file has the answers that
differ from those of the version before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from plimsoll.api.openapi.examples import DIRECTORY, PLACEMENT, V1
from plimsoll.api.openapi.placement import routes_at
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import VERSIONS, Version
from plimsoll.api.v1.routes import ROUTES as V1_ROUTES
from tests.docs import v1_pages
from tests.support.running import Client
from tests.support.sample_cloud import ENGINES, RACK_A, UUIDS

NODE, CARD = UUIDS["node-01"], UUIDS["numa-01-card"]
NEW, NEW_CLASS, NEW_TRAIT = "00000000-0000-4000-8000-000000000099", "CUSTOM_FPGA", "CUSTOM_EXAMPLE"
CONSUMER, OTHER = "cccccccc-0000-4000-8000-000000000099", "cccccccc-0000-4000-8000-000000000098"
MISSING = "00000000-0000-4000-8000-00000000dead"
OWNER = {"project_id": ENGINES, "user_id": "ffffffff-0000-4000-8000-000000000001"}
ERROR = "error"

V1_PATHS = {
    "GET /plimsoll/v1/explain": "/explain?resources=VCPU:8,MEMORY_MB:65536&required=HW_CPU_X86_AVX512F&limit=10",
    "GET /plimsoll/v1/unplaced": "/unplaced",
    "GET /plimsoll/v1/providers": "/providers?limit=1",
    "GET /plimsoll/v1/providers/{provider}": "/providers/node-01",
    "GET /plimsoll/v1/consumers": "/consumers?limit=2",
    "GET /plimsoll/v1/consumers/{uuid}": "/consumers/cccccccc-0000-4000-8000-000000000010",
    "GET /plimsoll/v1/usage": "/usage",
    "GET /plimsoll/v1/changes": "/changes?limit=1",
    "GET /plimsoll/v1/fit": "/fit?resources=VCPU:8,MEMORY_MB:16384",
}
"""The path of the example of each route, below /plimsoll/v1. The documents and the page are not examples of themselves."""
WITHOUT_EXAMPLE = {
    "GET /plimsoll/v1/openapi.json",
    "GET /plimsoll/v1/openapi/{document}",
    "GET /plimsoll/v1/docs",
}
SEARCH_WITHOUT_RESULT = "/allocation_candidates?resources=VCPU:65&required=HW_CPU_X86_AVX512F"
"""Sent before the examples, so that one search without candidates is recorded."""
RECORDING_SECONDS = 10


class Step(NamedTuple):
    """A request that exists from `since` on and until `until`; the steps run in order on one service."""

    method: str
    route: str
    path: str
    body: Any = None
    since: F | None = None
    until: F | None = None


def steps(version: Version) -> Iterator[Step]:
    """Yield requests of all routes with a document or a body. At the end all is removed that they created."""
    has = version.has
    provider, new = "/resource_providers/{uuid}", f"/resource_providers/{NEW}"
    parent = {"parent_provider_uuid": NODE} if has(F.PROVIDER_TREES) else {}
    amounts = {"VCPU": 2, "MEMORY_MB": 2048}
    yield Step("GET", "/", "/")
    yield Step("POST", "/resource_classes", "/resource_classes", {"name": NEW_CLASS})
    yield Step(
        "PUT",
        "/resource_classes/{name}",
        f"/resource_classes/{NEW_CLASS}",
        {"name": f"{NEW_CLASS}_2"},
        until=F.ENSURE_RESOURCE_CLASS,
    )
    yield Step("GET", "/resource_classes", "/resource_classes")
    yield Step("GET", "/resource_classes/{name}", "/resource_classes/VCPU")
    yield Step("PUT", "/traits/{name}", f"/traits/{NEW_TRAIT}")
    yield Step("GET", "/traits", "/traits?name=startswith:HW_NUMA")
    yield Step(
        "POST", "/resource_providers", "/resource_providers", {"name": "node-99", "uuid": NEW, **parent}
    )
    yield Step("PUT", provider, new, {"name": "node-99-vf", **parent})
    yield Step("GET", "/resource_providers", "/resource_providers?name=numa-01-node0")
    yield Step("GET", provider, f"/resource_providers/{CARD}")
    yield Step("PUT", f"{provider}/inventories", f"{new}/inventories", _inventories(0))
    yield Step(
        "POST", f"{provider}/inventories", f"{new}/inventories", {"resource_class": "DISK_GB", "total": 500}
    )
    yield Step(
        "PUT",
        f"{provider}/inventories/{{resource_class}}",
        f"{new}/inventories/VCPU",
        {"resource_provider_generation": 2, "total": 16, "allocation_ratio": 4.0},
    )
    yield Step("GET", f"{provider}/inventories", f"/resource_providers/{NODE}/inventories")
    yield Step(
        "GET", f"{provider}/inventories/{{resource_class}}", f"/resource_providers/{NODE}/inventories/VCPU"
    )
    yield Step(
        "PUT",
        f"{provider}/aggregates",
        f"{new}/aggregates",
        {"aggregates": [RACK_A], "resource_provider_generation": 3}
        if has(F.AGGREGATES_GENERATION)
        else [RACK_A],
    )
    yield Step("GET", f"{provider}/aggregates", f"/resource_providers/{NODE}/aggregates")
    generation = 4 if has(F.AGGREGATES_GENERATION) else 3
    yield Step(
        "PUT",
        f"{provider}/traits",
        f"{new}/traits",
        {"traits": [NEW_TRAIT], "resource_provider_generation": generation},
    )
    yield Step("GET", f"{provider}/traits", f"/resource_providers/{NODE}/traits")
    yield Step("PUT", "/allocations/{consumer_uuid}", f"/allocations/{CONSUMER}", _claim(amounts, version))
    yield Step("POST", "/allocations", "/allocations", {OTHER: _claim(amounts, version)})
    yield Step("GET", "/allocations", f"/allocations?project_id={ENGINES}&user_id={OWNER['user_id']}")
    yield Step("GET", "/allocations/{consumer_uuid}", f"/allocations/{CONSUMER}")
    yield Step("GET", f"{provider}/allocations", f"/resource_providers/{NODE}/allocations")
    yield Step("GET", f"{provider}/usages", f"/resource_providers/{NODE}/usages")
    yield Step("GET", "/usages", f"/usages?project_id={ENGINES}")
    search = "/allocation_candidates?resources=VCPU:4,MEMORY_MB:8192,DISK_GB:20"
    limit = "&limit=1" if has(F.LIMIT) else ""
    traits = "&required=HW_CPU_X86_AVX512F" if has(F.CANDIDATES_BY_TRAITS) else ""
    yield Step("GET", "/allocation_candidates", f"{search}{traits}{limit}")
    yield Step("DELETE", "", f"/allocations/{CONSUMER}")
    yield Step("DELETE", "", f"/allocations/{OTHER}", since=F.SEVERAL_CONSUMERS)


def _inventories(generation: int) -> dict[str, Any]:
    figures = {
        "VCPU": {"total": 16, "reserved": 1, "allocation_ratio": 2.0},
        "MEMORY_MB": {"total": 65536, "step_size": 512},
    }
    return {"resource_provider_generation": generation, "inventories": figures}


def _claim(amounts: dict[str, int], version: Version) -> dict[str, Any]:
    """Return the body of a claim on the new provider in the form of the version."""
    body: dict[str, Any] = {"allocations": {NEW: {"resources": amounts}}}
    if not version.has(F.KEYED_ALLOCATIONS):
        body = {"allocations": [{"resource_provider": {"uuid": NEW}, "resources": amounts}]}
    if version.has(F.CONSUMER_OWNER):
        body |= OWNER
    if version.has(F.CONSUMER_GENERATION):
        body["consumer_generation"] = None
    if version.has(F.CONSUMER_TYPES):
        body["consumer_type"] = "INSTANCE"
    return body


def _reshape(version: Version, generation: int) -> Step:
    claim = _claim({"VCPU": 2, "MEMORY_MB": 2048}, version)
    body = {"inventories": {NEW: _inventories(generation)}, "allocations": {CONSUMER: claim}}
    return Step("POST", "/reshaper", "/reshaper", body)


def placement_answers(client: Client, version: Version) -> dict[str, Any]:
    """Send the requests of a version, and return the examples by route."""
    found: dict[str, Any] = {}
    existing = {route.name for route in routes_at(version)}

    def send(step: Step) -> None:
        name = f"{step.method} {step.route}"
        if (step.route and name not in existing) or not _exists(step, version):
            return
        status, answer = client.call(step.method, step.path, step.body, version.text)
        assert status < 300, (version, step, answer)
        example: dict[str, Any] = {"path": step.path}
        if step.body is not None:
            example["request"] = step.body
        if answer is not None:
            example["responses"] = {str(status): answer}
        if step.route:
            found[name] = example

    for step in steps(version):
        send(step)
    _, provider = client.call("GET", f"/resource_providers/{NEW}", None, version.text)
    send(_reshape(version, provider["generation"]))
    _, found[ERROR] = client.call("GET", f"/resource_providers/{MISSING}", None, version.text)
    _remove(client)
    return found


def _exists(step: Step, version: Version) -> bool:
    since, until = step.since, step.until
    return (since is None or version.has(since)) and not (until is not None and version.has(until))


def _remove(client: Client) -> None:
    names = (f"/resource_classes/{NEW_CLASS}", f"/resource_classes/{NEW_CLASS}_2", f"/traits/{NEW_TRAIT}")
    for path in (f"/allocations/{CONSUMER}", f"/resource_providers/{NEW}", *names):
        status, answer = client.call("DELETE", path)
        assert status in (204, 404), (path, answer)


def placement_examples(client: Client) -> dict[str, Any]:
    examples: dict[str, list[dict[str, Any]]] = {}
    for version in VERSIONS:
        for name, example in _fixed(placement_answers(client, version)).items():
            several = examples.setdefault(name, [])
            if not several or several[-1]["example"] != example:
                several.append({"since": version.minor, "example": example})
    return examples


def v1_examples(client: Client) -> dict[str, Any]:
    client.call("GET", SEARCH_WITHOUT_RESULT)
    examples: dict[str, Any] = {}
    for route in V1_ROUTES:
        if route.name in WITHOUT_EXAMPLE:
            continue
        path = f"/plimsoll/v1{V1_PATHS[route.name]}"
        status, answer = client.call("GET", path)
        deadline = time.monotonic() + RECORDING_SECONDS
        while route.path.endswith("/unplaced") and not answer.get("unplaced") and time.monotonic() < deadline:
            time.sleep(0.2)
            status, answer = client.call("GET", path)
        assert status == 200, (path, answer)
        examples[route.name] = {"path": path, "responses": {"200": answer}}
    _, examples[ERROR] = client.call("GET", "/plimsoll/v1/providers/node-77")
    return _fixed(examples)


def _fixed(examples: dict[str, Any]) -> dict[str, Any]:
    """Replace revisions, times, and uuids that the service has chosen, by fixed ones."""
    text = json.dumps(examples)
    for pattern, fixed in v1_pages.FIXED:
        text = pattern.sub(fixed, text)
    known = {NEW, CONSUMER, OTHER, MISSING, *v1_pages.UUID.findall(v1_pages._cloud_uuids())}
    replaced = v1_pages.UUID.sub(lambda found: found[0] if found[0] in known else v1_pages.FIXED_UUID, text)
    answers: dict[str, Any] = json.loads(replaced)
    return answers


def generated() -> dict[str, str]:
    """Return the files by name."""
    with v1_pages.sample_service() as service:
        client = service.client(roles="admin,service")
        files = {V1: v1_examples(client), PLACEMENT: placement_examples(client)}
    return {name: v1_pages.format_json(content) + "\n" for name, content in files.items()}


if __name__ == "__main__":
    DIRECTORY.mkdir(exist_ok=True)
    for name, text in generated().items():
        (DIRECTORY / name).write_text(text)
