# SPDX-License-Identifier: Apache-2.0

"""Ten typical questions about the sample cloud, and their explanations as text: the files in tests/api/v1/explained.

`python -m tests.api.v1.explain_cases` writes the files again, and the same texts in docs/v1/explain.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support import sample_cloud
from tests.support.api import NO_BODY, Api, Response, api

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent / "explained"
PAGE = ROOT / "docs" / "v1" / "explain.md"
REVISION = re.compile(r"\b[0-9a-f]{8}:\d+\b")
FIXED_REVISION = "5f3a9c1e:63"


def _nothing(client: Api) -> None:
    pass


def _without_storage(client: Api) -> None:
    """Take the diskless hosts out of the aggregate of the storage pool."""
    for name in ("diskless-01", "diskless-02"):
        path = f"/resource_providers/{sample_cloud.UUIDS[name]}"
        generation = client.get(path).json["generation"]
        body = {"aggregates": [], "resource_provider_generation": generation}
        assert client.put(f"{path}/aggregates", body).status == 200


def _fill(client: Api) -> None:
    """Claim most of the memory of the two hosts with the most."""
    for number, name in ((90, "node-06"), (91, "gpu-01")):
        claim = {
            "allocations": {sample_cloud.UUIDS[name]: {"resources": {"MEMORY_MB": 98304}}},
            "project_id": sample_cloud.ENGINES,
            "user_id": sample_cloud.ADA,
            "consumer_type": "INSTANCE",
            "consumer_generation": None,
        }
        assert client.put(f"/allocations/cccccccc-0000-4000-8000-{number:012}", claim).status == 204


def _disable(client: Api) -> None:
    """Disable the host with the free devices, as nova does."""
    path = f"/resource_providers/{sample_cloud.UUIDS['gpu-01']}/traits"
    known = client.get(path).json
    body = {
        "traits": [*known["traits"], sample_cloud.DISABLED],
        "resource_provider_generation": known["resource_provider_generation"],
    }
    assert client.put(path, body).status == 200


@dataclass(frozen=True, slots=True)
class ExplainCase:
    name: str
    title: str
    query: str
    change: Callable[[Api], None] = _nothing
    """A change of the sample cloud before the question."""


CASES = (
    ExplainCase("full_cloud", "A full cloud", "resources=VCPU:8,MEMORY_MB:110592", _fill),
    ExplainCase(
        "trait_nowhere",
        "A trait that no host has",
        "resources=VCPU:4,MEMORY_MB:4096&required=HW_CPU_X86_AMD_SEV",
    ),
    ExplainCase(
        "wrong_aggregate",
        "Hosts outside the aggregate",
        f"resources=VCPU:8,MEMORY_MB:65536&required=HW_CPU_X86_AVX512F&member_of={sample_cloud.RACK_A}",
    ),
    ExplainCase(
        "disabled",
        "A disabled compute service",
        "resources=VCPU:4,MEMORY_MB:4096&required=!COMPUTE_STATUS_DISABLED&resources_GPU=PGPU:1",
        _disable,
    ),
    ExplainCase(
        "over_full",
        "An over-full host after its inventory was reduced",
        "resources=VCPU:2,MEMORY_MB:2048&provider=node-07",
    ),
    ExplainCase(
        "wrong_numa_node",
        "A device on another NUMA node",
        "resources_CPU=VCPU:8,MEMORY_MB:16384&resources_NIC=SRIOV_NET_VF:1"
        "&same_subtree=_CPU,_NIC&group_policy=none",
    ),
    ExplainCase(
        "isolate",
        "Too few devices for groups that must not share one",
        "resources=VCPU:4,MEMORY_MB:8192&"
        + "&".join(f"resources_GPU{number}=PGPU:1" for number in range(1, 5))
        + "&group_policy=isolate",
    ),
    ExplainCase(
        "sharing",
        "Shared storage that is not associated",
        "resources=VCPU:4,MEMORY_MB:4096,DISK_GB:4000",
        _without_storage,
    ),
    ExplainCase("max_unit", "More at a time than max_unit", "resources=VCPU:8&provider=node-08"),
    ExplainCase("typo", "A trait with a typing error", "resources=VCPU:4&required=HW_CPU_X86_AVX512"),
)


@contextmanager
def sample_api() -> Iterator[Api]:
    """Run the API in this process, on a database with the sample cloud."""
    with TemporaryDirectory() as folder, api(Path(folder) / "database") as client:

        def send(method: str, path: str, body: Any) -> tuple[int, Any]:
            response = client.call(method, path, NO_BODY if body is None else body)
            return response.status, response.json if response.body else None

        sample_cloud.create(send)
        yield client


def ask(client: Api, query: str, media_type: str = "text/plain") -> Response:
    return client.call("GET", f"/plimsoll/v1/explain?{query}", headers={"accept": media_type})


def answer_of(case: ExplainCase, client: Api) -> str:
    """Return the explanation as text, or the detail of the error."""
    case.change(client)
    response = ask(client, case.query)
    text = (
        response.body.decode()
        if response.status == 200
        else ask(client, case.query, "application/json").detail
    )
    lines = [line.strip() if response.status != 200 else line for line in text.strip().split("\n")]
    return REVISION.sub(FIXED_REVISION, "\n".join(lines)) + "\n"


def section_of(case: ExplainCase) -> str:
    """Return the section of the page that shows a case."""
    answer = (FOLDER / f"{case.name}.txt").read_text()
    return f"### {case.title}\n\n`{case.query}`\n\n```text\n{answer}```\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        with sample_api() as client:
            (FOLDER / f"{case.name}.txt").write_text(answer_of(case, client))
    if PAGE.exists():
        begin, end = "<!-- cases -->\n", "<!-- end of cases -->"
        before, _, rest = PAGE.read_text().partition(begin)
        after = rest.partition(end)[2]
        PAGE.write_text(before + begin + "\n" + "\n".join(map(section_of, CASES)) + "\n" + end + after)


if __name__ == "__main__":
    main()
