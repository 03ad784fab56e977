# SPDX-License-Identifier: Apache-2.0

"""JSON that is cached occupies its own length, and not the buffer in which it was made."""

from __future__ import annotations

import subprocess
import sys

COUNT = 20_000
MEASURE = f"""
from pathlib import Path
from plimsoll.http.response import compact, encode_json

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

before = resident()
cached = [compact(encode_json({{"number": number}})) for number in range({COUNT})]
assert cached[7] == b'{{"number":7}}'
print(resident() - before)
"""


def test_short_texts_in_a_cache_take_little_memory() -> None:
    measured = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert int(measured.stdout) < COUNT * 500  # 4 kB each without the copy
