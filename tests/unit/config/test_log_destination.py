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
    log_destination.settle(conf)
    return conf


def test_a_directory_alone_gets_a_file_that_operators_know(tmp_path: Path) -> None:
    assert settled(log_dir=str(tmp_path)).log_file == "placement-api.log"


def test_a_file_that_is_named_stays_and_the_screen_stays_the_screen(tmp_path: Path) -> None:
    assert settled(log_dir=str(tmp_path), log_file="mine.log").log_file == "mine.log"
    assert settled().log_file is None


def test_what_a_set_up_of_its_own_makes_of_the_log_is_its_own_affair(tmp_path: Path) -> None:
    ini = tmp_path / "logging.ini"
    ini.write_text("[loggers]\n[handlers]\n[formatters]\n")
    assert settled(log_config_append=str(ini), log_dir="/no/such/place").log_file is None


def test_a_setting_that_nobody_wrote_is_named_without_a_place() -> None:
    with pytest.raises(
        loader.ConfigError, match=r"^default: \[DEFAULT\] log_dir: /no/such: there is no such directory"
    ):
        settled(log_dir="/no/such")
