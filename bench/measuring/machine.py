# SPDX-License-Identifier: Apache-2.0

"""What it was measured on: the machine, the versions, the settings."""

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


def used_by_others() -> float:
    """How much of the processors is in use, in percent, over a second in which nothing of ours runs."""
    return float(psutil.cpu_percent(interval=1.0))


def described(site: Site) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(psutil.virtual_memory().total / 2**30),
            "system": f"{platform.system()} {platform.release()}",
            "fsync_ms": _durable_after(site.directory / "durable"),
        },
        "versions": {
            "Python": platform.python_version(),
            "databases": sorted({site.reference.version(), site.ours.version()}),
            "Plimsoll": {"plimsoll": version("plimsoll-placement")} | {name: version(name) for name in OURS},
            "reference": _theirs(),
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


def _durable_after(path: Path) -> float:
    """Milliseconds until a small write to this disk is durable: no commit can take less."""
    times = []
    with path.open("wb") as file:
        for _ in range(50):
            file.seek(0)
            file.write(b"x" * 4096)
            file.flush()
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    return float(f"{1000 * statistics.median(times):.3g}")


def _theirs() -> dict[str, str]:
    code = "import sys, importlib.metadata as m; print(*(m.version(n) for n in sys.argv[1:]))"
    said = subprocess.run(
        [REFERENCE_BIN / "python", "-c", code, *THEIRS], capture_output=True, text=True, check=True
    )
    return dict(zip(THEIRS, said.stdout.split(), strict=True))
