# SPDX-License-Identifier: Apache-2.0

"""The log of a running service: JSON lines, rotation, and errors of its settings."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.support.running import Service

SECONDS = 30


def lines(file: Path, count: int) -> list[dict[str, Any]]:
    """Wait for `count` JSON lines of requests, and return them: they are written after the response."""
    deadline = time.monotonic() + SECONDS
    while True:
        written = file.read_text().splitlines() if file.exists() else []
        found = [json.loads(line) for line in written if '"placement.requestlog"' in line]
        if len(found) >= count or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


def test_each_line_is_json_and_after_a_rotation_the_next_is_in_the_new_file(tmp_path: Path) -> None:
    file, rotated = tmp_path / "placement-api.log", tmp_path / "placement-api.log.1"
    (tmp_path / "placement.conf").write_text(f"[DEFAULT]\nuse_json = true\nlog_dir = {tmp_path}\n")
    with Service(tmp_path) as service:
        before = len(lines(file, 1))
        client = service.client()
        assert client.call("GET", "/resource_providers?name=x")[0] == 200
        (document,) = lines(file, before + 1)[before:]
        assert document["levelname"] == "INFO"
        assert document["args"]["REQUEST_METHOD"] == "GET"
        assert document["args"]["REQUEST_URI"] == "/resource_providers?name=x"
        assert document["args"]["status"] == "200"
        assert document["context"]["request_id"].startswith("req-")
        assert document["context"]["global_request_id"] is None
        assert (document["context"]["user"], document["context"]["project"]) == ("admin", "admin")

        file.rename(rotated)
        for _ in range(3):
            assert client.call("GET", "/traits")[0] == 200
        assert [each["args"]["REQUEST_URI"] for each in lines(file, 3)] == ["/traits"] * 3
    everything = [*rotated.read_text().splitlines(), *file.read_text().splitlines()]
    assert all(json.loads(line)["message"] for line in everything), "the lines of other loggers are JSON too"


TRY = """
import sys
from plimsoll.config import loader, logging_setup
for settings in sys.argv[1:]:
    try:
        logging_setup.set_up(loader.load([settings]))
    except loader.ConfigError as error:
        print(error)
    else:
        print("fine")
"""

BAD = {
    "log_config_append = {here}/nowhere.conf": "log_config_append: {here}/nowhere.conf: No such file",
    "log_config_append = {here}/bad.conf": "log_config_append: {here}/bad.conf: not a configuration",
    "log_config_append = {here}/level.conf": "log_config_append: {here}/level.conf cannot be used: ",
    "log_file = {here}/no/such/directory.log": "log_file: {here}/no/such: there is no such directory",
    "default_log_levels = plimsoll=LOUD": "a log option cannot be used: Unknown level: 'LOUD'",
    "use_stderr = true": "fine",
}


def test_errors_of_log_settings_are_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.conf").write_text("[loggers]\nkeys = root\n")
    sections = (
        "[loggers]\nkeys=root\n[handlers]\nkeys=\n[formatters]\nkeys=\n[logger_root]\nlevel=LOUD\nhandlers=\n"
    )
    (tmp_path / "level.conf").write_text(sections)
    files = []
    for number, settings in enumerate(BAD):
        files.append(tmp_path / f"{number}.conf")
        files[-1].write_text("[DEFAULT]\n" + settings.format(here=tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", TRY, *map(str, files)], capture_output=True, text=True, check=True, timeout=60
    )
    output = done.stdout.splitlines()
    assert len(output) == len(BAD), done.stdout
    for line, expected in zip(output, BAD.values(), strict=True):
        assert expected.format(here=tmp_path) in line


def test_a_service_does_not_start_if_its_log_cannot_be_configured(tmp_path: Path) -> None:
    (tmp_path / "placement.conf").write_text("[DEFAULT]\nlog_config_append = nowhere.conf\n")
    done = Service(tmp_path).command("serve", "--port", "0")
    assert done.returncode == 1
    assert "placement.conf:2: [DEFAULT] log_config_append: nowhere.conf: No such file" in done.stderr
    assert "Traceback" not in done.stderr
