# SPDX-License-Identifier: Apache-2.0

"""Run schemathesis against a running service with its own OpenAPI documents, all checks.

The service is `plimsoll serve` with the sample cloud and a Keystone that accepts one token, so that schemathesis can
test that other tokens are refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plimsoll.api.placement.microversion import HEADER, SERVICE_TYPE
from tests.cloud.fake_keystone import FakeKeystone
from tests.support import sample_cloud
from tests.support.running import Service

SCHEMATHESIS = Path(sys.executable).with_name("st")
TOKEN = "good"
V1 = "v1"

SEMANTIC_REFUSALS = (
    "GET /allocation_candidates",
    "GET /resource_providers",
    "POST /resource_providers",
    "PUT /resource_providers/{uuid}",
    "POST /resource_providers/{uuid}/inventories",
    "PUT /resource_providers/{uuid}/inventories",
    "PUT /resource_providers/{uuid}/inventories/{resource_class}",
    "PUT /resource_providers/{uuid}/traits",
    "PUT /allocations/{consumer_uuid}",
    "POST /allocations",
    "POST /reshaper",
    "DELETE /resource_classes/{name}",
    "DELETE /traits/{name}",
    "PUT /resource_classes/{name}",
    "PUT /traits/{name}",
)
"""Operations that refuse requests with a 400 although their schema accepts them, as the reference does.

They name a class, trait or provider that does not exist, or change a standard one, reserve more than there is, or have
groups that do not belong together.
"""
V1_SEMANTIC_REFUSALS = (
    "GET /plimsoll/v1/changes",
    "GET /plimsoll/v1/consumers",
    "GET /plimsoll/v1/explain",
    "GET /plimsoll/v1/fit",
    "GET /plimsoll/v1/providers",
    "GET /plimsoll/v1/providers/{provider}",
    "GET /plimsoll/v1/unplaced",
    "GET /plimsoll/v1/usage",
)
"""They name a class, trait or provider that does not exist, or have a cursor of no page, or of another history."""
REJECTED = (400, 401, 403, 404, 405, 406, 409, 410, 413, 414, 415, 431)
"""The statuses of a request that violates its schema. schemathesis does not expect 413, 414 and 431, for very long ones."""


SAMPLES = {
    "path.uuid": [provider.uuid for provider in sample_cloud.PROVIDERS[:4]],
    "path.provider": ["node-01", "gpu-01-gpu0", sample_cloud.UUIDS["numa-01"]],
    "path.consumer_uuid": [consumer.uuid for consumer in sample_cloud.CONSUMERS[:4]],
    "path.consumer": [consumer.uuid for consumer in sample_cloud.CONSUMERS[:4]],
    "path.resource_class": ["VCPU", "MEMORY_MB"],
    "path.document": ["placement-1.39.json", "placement-1.0.json"],
    "query.resources": ["VCPU:1", "VCPU:64,MEMORY_MB:1024", "PGPU:1", "DISK_GB:100"],
    "query.project_id": [sample_cloud.ENGINES, sample_cloud.LOOMS],
}
"""Values of the sample cloud, which schemathesis uses beside generated ones."""


REFERENCE_METHODS = (
    ("/allocations", "allow_header_conformance"),
    ("/allocations", "unsupported_method"),
    ("/resource_providers/{uuid}/inventories", "allow_header_conformance"),
    ("/resource_providers/{uuid}/inventories", "unsupported_method"),
)
"""Methods that the reference treats differently from what schemathesis expects, and Plimsoll as the reference.

The `allow` header lists methods of later versions, and not our own GET /allocations. At versions that do not have them,
POST /allocations is a 404, and DELETE of all inventories a 405 without the header.
"""


class GuardedService(Service):
    """A service whose tokens are validated by a Keystone."""

    def __init__(self, directory: Path, keystone: FakeKeystone) -> None:
        super().__init__(directory)
        (directory / "placement.conf").write_text(keystone.authtoken())

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"OS_API__AUTH_STRATEGY": "keystone"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def guarded_service(directory: Path) -> Iterator[GuardedService]:
    with FakeKeystone() as keystone, GuardedService(directory, keystone) as service:
        sample_cloud.create_at(service.url, TOKEN)
        yield service


def served_document(service: GuardedService, name: str) -> dict[str, Any]:
    """Read a document from the service: `v1`, or a microversion of the Placement API."""
    path = "openapi.json" if name == V1 else f"openapi/placement-{name}.json"
    with urllib.request.urlopen(f"{service.url}/plimsoll/v1/{path}", timeout=60) as response:
        document: dict[str, Any] = json.load(response)
    return document


def without_version_header(document: dict[str, Any]) -> dict[str, Any]:
    """Remove the parameter that selects the version. Requests without it have the lowest version, and another document."""
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["parameters"] = [each for each in operation["parameters"] if each["name"] != HEADER]
    return document


def settings(name: str) -> str:
    """Return the settings of schemathesis."""
    refusing = V1_SEMANTIC_REFUSALS if name == V1 else SEMANTIC_REFUSALS
    lines = ["[cache]", "enabled = false", "[headers]", f'X-Auth-Token = "{TOKEN}"']
    if name != V1:
        lines.append(f'{HEADER} = "{SERVICE_TYPE} {name}"')
    lines += ["[checks.negative_data_rejection]", f"expected-statuses = {list(REJECTED)}"]
    for parameter, values in SAMPLES.items():
        dictionary = parameter.replace(".", "_")
        lines += [f"[dictionaries.{dictionary}]", f"values = {json.dumps(values)}"]
    lines.append("[parameters]")
    for parameter in SAMPLES:
        dictionary = parameter.replace(".", "_")
        lines.append(f'"{parameter}" = {{ dictionary = "{dictionary}", probability = 0.6 }}')
    accepted = '["2xx", "3xx", 400, 401, 403, 404, 409, 410]'
    for operation in refusing:
        lines += ["[[operations]]", f'include-name = "{operation}"']
        lines.append(f"checks.positive_data_acceptance.expected-statuses = {accepted}")
    for path, check in REFERENCE_METHODS:
        lines += ["[[operations]]", f'include-path = "{path}"', f"checks.{check}.enabled = false"]
    return "\n".join(lines) + "\n"


def fuzz(
    service: GuardedService,
    directory: Path,
    name: str,
    *,
    examples: int,
    phases: str = "examples,coverage,fuzzing,stateful",
    seed: int = 1,
) -> tuple[bool, str]:
    """Run schemathesis with the document of this name. Return whether nothing failed, and its output."""
    document = served_document(service, name)
    file, config = directory / f"{name}.json", directory / f"{name}.toml"
    file.write_text(json.dumps(document if name == V1 else without_version_header(document)))
    config.write_text(settings(name))
    command = [str(SCHEMATHESIS), "--config-file", str(config), "run", str(file), "--url", service.url]
    command += ["--max-examples", str(examples), "--phases", phases, "--seed", str(seed), "--no-color"]
    ran = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=1800)
    return ran.returncode == 0, ran.stdout + ran.stderr
