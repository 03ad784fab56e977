# SPDX-License-Identifier: Apache-2.0

"""The program in docs/v1/changes.md runs, and prints each new provider."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

from tests.support.running import Service
from tests.support.waiting import eventually

PAGE = Path(__file__).parents[2] / "docs" / "v1" / "changes.md"


def test_the_program_of_the_page_prints_changes(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    with Service(tmp_path) as service:
        program = program.replace("127.0.0.1:8778", f"127.0.0.1:{service.port}")
        client = service.client()
        with subprocess.Popen(
            [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, text=True
        ) as running:
            lines: list[str] = []
            stdout = running.stdout
            assert stdout is not None
            reader = threading.Thread(target=lambda: lines.append(stdout.readline()))
            reader.start()

            def is_printed() -> bool:
                """Create a provider: those before the program's first request are no changes for it."""
                assert client.call("POST", "/resource_providers", {"name": str(uuid4())})[0] == 200
                return bool(lines)

            assert eventually(is_printed)
            running.kill()
            reader.join()
    assert re.fullmatch(r"20\d\d-\S+Z provider\.create [0-9a-f-]{36}\n", lines[0])
