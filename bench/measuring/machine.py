# SPDX-License-Identifier: Apache-2.0

"""Description of the test environment: machine, versions, settings."""

from __future__ import annotations

import os
import platform
import re
import statistics
import subprocess
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from bench.site.services import REFERENCE_BIN, TUNED, Plimsoll
from bench.site.site import Site

OURS = ("gevent", "httptools", "numpy", "orjson", "SQLAlchemy", "PyMySQL", "psycopg")
THEIRS = ("openstack-placement", "gunicorn", "SQLAlchemy", "oslo.db", "PyMySQL", "psycopg2-binary")


def cpu_used_by_others() -> float:
    """Return the processor load in percent over one second, before our services are started."""
    return float(psutil.cpu_percent(interval=1.0))


def describe(site: Site) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(psutil.virtual_memory().total / 2**30),
            "system": f"{platform.system()} {platform.release()}",
            "fsync_ms": _fsync_milliseconds(site.directory / "durable"),
        },
        "versions": {
            "Python": platform.python_version(),
            "databases": sorted({site.reference.version(), site.ours.version()}),
            "Plimsoll": {"plimsoll": version("plimsoll-placement")} | {name: version(name) for name in OURS},
            "reference": _reference_versions(),
        },
        "settings": {
            "Plimsoll": f"plimsoll serve --workers {Plimsoll.worker_count}, defaults",
            "reference": "gunicorn, 2 gthread workers of 10 threads, keep-alive; defaults",
            "reference, tuned": ", ".join(
                f"{name.partition('__')[2].lower()}={value}" for name, value in TUNED.items()
            ),
        },
    }


def _processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.processor()


def _fsync_milliseconds(path: Path) -> float:
    """Return the milliseconds of a small fdatasync on this disk: the minimum time of a commit."""
    times = []
    with path.open("wb") as file:
        for _ in range(50):
            file.seek(0)
            file.write(b"x" * 4096)
            file.flush()
            start_time = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start_time)
    return float(f"{1000 * statistics.median(times):.3g}")


def _reference_versions() -> dict[str, str]:
    code = "import sys, importlib.metadata as m; print(*(m.version(n) for n in sys.argv[1:]))"
    completed = subprocess.run(
        [REFERENCE_BIN / "python", "-c", code, *THEIRS], capture_output=True, text=True, check=True
    )
    return dict(zip(THEIRS, completed.stdout.split(), strict=True))
