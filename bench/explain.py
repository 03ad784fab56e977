# SPDX-License-Identifier: Apache-2.0

"""Measure what an explanation costs beside the search that it explains, at 10,000 providers.

Search and explanation alternate, in this process, without HTTP; every request differs from those before. A cost is the time of the
processor for one request, from the parsed request to the encoded response. The ratio is that of an explanation without
`relax` and `make_room`; the last column has the explanation with both.

    python -m bench explain --requests 100
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.client.http import request
from bench.datasets import shapes
from bench.datasets.rows import Rows
from bench.profiling.command import application_of
from bench.profiling.inprocess import InProcess
from bench.report.table import as_text
from bench.site.databases import engines
from bench.site.site import Site

HELP = "measure what an explanation costs beside its search"
GOAL = 5.0
"""The highest ratio of the cost of all explanations to the cost of all searches."""
MAX_SECONDS = 1.0
"""The highest cost of an explanation with `relax` and `make_room`."""
WARMUP = 3
COMPLETE_REQUESTS = 5
"""Requests of each kind with `relax` and `make_room`."""

DATASETS: Mapping[str, Callable[[], Rows]] = {
    "flat": lambda: shapes.flat(10_000),
    "nested": lambda: shapes.nested(1_429),
    "shared": lambda: shapes.shared(10_000, 10),
    "full trees": lambda: shapes.nested(1_429, full=True),
    "full shared": lambda: shapes.shared(10_000, 10, full=True),
}


@dataclass(frozen=True, slots=True)
class Question:
    dataset: str
    title: str
    query: str
    """With braces for an amount that differs each time."""


QUESTIONS = (
    Question(
        "flat", "found", "resources=VCPU:4,MEMORY_MB:8192,DISK_GB:{}&required=HW_CPU_X86_AVX2&limit=1000"
    ),
    Question("flat", "all found", "resources=VCPU:4,MEMORY_MB:8192,DISK_GB:{}"),
    Question("flat", "too large", "resources=VCPU:4,MEMORY_MB:9000000,DISK_GB:{}&limit=1000"),
    Question("flat", "trait missing", "resources=VCPU:4,DISK_GB:{}&required=HW_CPU_X86_AVX512F&limit=1000"),
    Question(
        "nested",
        "found",
        "resources=DISK_GB:{}&required=COMPUTE_VOLUME_MULTI_ATTACH&resources_COMPUTE=VCPU:1,MEMORY_MB:256"
        "&required_COMPUTE=CUSTOM_FOO&resources_FPGA=FPGA:1&group_policy=none&same_subtree=_COMPUTE,_FPGA&limit=1000",
    ),
    Question(
        "nested",
        "too few devices",
        "resources=DISK_GB:{}&resources_1=FPGA:1&resources_2=FPGA:1&resources_3=FPGA:1&resources_4=FPGA:1"
        "&group_policy=isolate&limit=1000",
    ),
    Question(
        "nested",
        "other subtree",
        "resources=DISK_GB:{}&resources_COMPUTE=VCPU:1,MEMORY_MB:256&required_COMPUTE=CUSTOM_FOO"
        "&resources_VGPU=VGPU:1&group_policy=none&same_subtree=_COMPUTE,_VGPU&limit=1000",
    ),
    Question("shared", "found", "resources=VCPU:4,MEMORY_MB:8192,DISK_GB:{}&limit=1000"),
    Question("shared", "too large", "resources=VCPU:4,MEMORY_MB:900000,DISK_GB:{}&limit=1000"),
    Question(
        "full trees",
        "nothing free",
        "resources=DISK_GB:{}&resources_COMPUTE=VCPU:4,MEMORY_MB:512&required_COMPUTE=CUSTOM_FOO&limit=1000",
    ),
    Question("full shared", "nothing free", "resources=VCPU:200,MEMORY_MB:8192,DISK_GB:{}&limit=1000"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=100, help="requests of each kind (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    # The line in the log about a search without candidates is an explanation too.
    logging.getLogger("plimsoll.service.candidates").setLevel(logging.WARNING)
    lines: list[tuple[str, ...]] = [("dataset", "question", "search", "explanation", "ratio", "complete")]
    searches = explanations = longest = 0.0
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as temporary:
        directory = Path(temporary)
        with engines("sqlite", None, directory) as (theirs, ours):
            site = Site(theirs, ours, directory)
            for dataset, build in DATASETS.items():
                with site.plimsoll(dataset.replace(" ", "_"), build()) as service:
                    application = application_of(service)
                    for question in (each for each in QUESTIONS if each.dataset == dataset):
                        search, explanation = _costs(application, question, arguments.requests)
                        complete = _cost_of_complete(application, question)
                        searches += search
                        explanations += explanation
                        longest = max(longest, complete)
                        lines.append(_line(question.dataset, question.title, search, explanation, complete))
    lines.append(_line("all", "", searches, explanations, longest))
    print(as_text(lines[0], lines[1:]))
    return 0 if explanations <= GOAL * searches and longest <= MAX_SECONDS else 1


def _line(dataset: str, title: str, search: float, explanation: float, complete: float) -> tuple[str, ...]:
    ratio = f"{explanation / search:.1f}"
    return dataset, title, *map(_milliseconds, (search, explanation)), ratio, _milliseconds(complete)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def _costs(application: InProcess, question: Question, requests: int) -> tuple[float, float]:
    """Return the median cost of a search and of an explanation, in seconds."""
    costs: tuple[list[float], list[float]] = ([], [])
    for number in range(requests + WARMUP):
        for place, target in enumerate(
            ("/allocation_candidates?{}", "/plimsoll/v1/explain?relax=false&make_room=false&{}")
        ):
            cost = _cost(application, target.format(question.query.format(10 + 2 * number + place)))
            if number >= WARMUP:
                costs[place].append(cost)
    return statistics.median(costs[0]), statistics.median(costs[1])


def _cost_of_complete(application: InProcess, question: Question) -> float:
    """Return the highest cost of an explanation with `relax` and `make_room`, in seconds."""
    queries = (question.query.format(5_001 + number) for number in range(COMPLETE_REQUESTS))
    return max(_cost(application, f"/plimsoll/v1/explain?{query}") for query in queries)


def _cost(application: InProcess, target: str) -> float:
    start = time.thread_time()
    response = application.call(request("GET", target))
    cost = time.thread_time() - start
    assert response.status == 200, bytes(response.body)
    return cost
