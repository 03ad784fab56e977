# SPDX-License-Identifier: Apache-2.0

"""The directory for the counters of workers: made, cleaned, and never in the way of a start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.cli.metrics_directory import METRICS_VARIABLE, PREFIX, metrics_directory
from plimsoll.metrics import DIRECTORY_VARIABLE


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)
    monkeypatch.delenv(METRICS_VARIABLE, raising=False)


def test_a_directory_is_made_for_the_block_and_removed_after_it(tmp_path: Path) -> None:
    with metrics_directory(str(tmp_path)):
        made = Path(os.environ[DIRECTORY_VARIABLE])
        assert made.parent == tmp_path
        assert made.stat().st_mode & 0o777 == 0o700
        (made / "counter_0.db").touch()
    assert list(tmp_path.iterdir()) == []
    assert DIRECTORY_VARIABLE not in os.environ


def test_the_directory_of_a_killed_service_is_removed_and_that_of_a_running_one_is_not(
    tmp_path: Path,
) -> None:
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    (left / "counter_0.db").touch()
    (tmp_path / "other").mkdir()
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(tmp_path / "other")
    with metrics_directory(str(tmp_path)):
        running = Path(os.environ.pop(DIRECTORY_VARIABLE))
        with metrics_directory(str(tmp_path)):
            assert running.is_dir()
            assert not left.exists()
        os.environ[DIRECTORY_VARIABLE] = str(running)
    assert (tmp_path / "other").is_dir()


def test_the_directory_of_the_operator_is_used_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    with metrics_directory(None):
        assert os.environ[DIRECTORY_VARIABLE] == str(tmp_path)
    assert tmp_path.is_dir()


def test_without_a_directory_the_service_starts_without_metrics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with metrics_directory(str(tmp_path / "missing")):
        assert os.environ[METRICS_VARIABLE] == "false"
        assert DIRECTORY_VARIABLE not in os.environ
    assert METRICS_VARIABLE not in os.environ
    assert "[plimsoll]metrics_directory" in caplog.text
