# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

import pytest
from oslo_config import cfg

from plimsoll.config import loader, log_destination


def settled(**options: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    loader.register(conf)
    conf([], default_config_files=[])
    for name, value in options.items():
        conf.set_override(name, value)
    log_destination.prepare(conf)
    return conf


def test_a_log_dir_without_log_file_gets_the_usual_file_name(tmp_path: Path) -> None:
    assert settled(log_dir=str(tmp_path)).log_file == "placement-api.log"


def test_a_configured_log_file_and_stderr_stay_unchanged(tmp_path: Path) -> None:
    assert settled(log_dir=str(tmp_path), log_file="mine.log").log_file == "mine.log"
    assert settled().log_file is None


def test_with_log_config_append_the_log_file_is_not_checked(tmp_path: Path) -> None:
    ini = tmp_path / "logging.ini"
    ini.write_text("[loggers]\n[handlers]\n[formatters]\n")
    assert settled(log_config_append=str(ini), log_dir="/no/such/place").log_file is None


def test_a_default_is_reported_without_a_place() -> None:
    with pytest.raises(
        loader.ConfigError, match=r"^default: \[DEFAULT\] log_dir: /no/such: there is no such directory"
    ):
        settled(log_dir="/no/such")
