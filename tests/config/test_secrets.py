# SPDX-License-Identifier: Apache-2.0

"""A password need not be in placement.conf: it can be in a second file, a directory or the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.cli import main

SECRET = "[placement_database]\nconnection = sqlite:///{here}/secret.sqlite\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("OS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "placement.conf").write_text(
        f"[placement_database]\nconnection = sqlite:///{tmp_path}/open.sqlite\n[plimsoll]\nthreads = 3\n"
    )
    return tmp_path


def is_used(here: Path, *options: str) -> bool:
    """Return True if the database comes from the secret file, and all other settings from the public file."""
    assert CliRunner().invoke(main, ["db", "sync", *options]).exit_code == 0
    shown = CliRunner().invoke(main, ["config", "show", *options]).stdout
    assert "[plimsoll] threads = 3" in shown
    assert "secret.sqlite" not in shown
    return (here / "secret.sqlite").exists() and not (here / "open.sqlite").exists()


def test_a_second_file_that_only_the_service_may_read(here: Path) -> None:
    secret = here / "secret.conf"
    secret.touch(0o600)
    secret.write_text(SECRET.format(here=here))
    assert is_used(here, "--config-file", str(here / "placement.conf"), "--config-file", str(secret))


@pytest.mark.parametrize("before", [True, False], ids=["before the command", "after the command"])
def test_a_directory_such_as_systemd_s_credentials(here: Path, before: bool) -> None:
    directory = here / "credentials"
    directory.mkdir(0o700)
    (directory / "database.conf").write_text(SECRET.format(here=here))
    (directory / "other").write_text("not for us")
    options = ["--config-file", str(here / "placement.conf"), "--config-dir", str(directory)]
    if before:
        assert CliRunner().invoke(main, [*options, "db", "sync"]).exit_code == 0
        assert (here / "secret.sqlite").exists()
    else:
        assert is_used(here, *options)


def test_the_directory_beside_the_file_in_its_usual_place(here: Path) -> None:
    usual = here / ".placement"
    (usual / "placement.conf.d").mkdir(parents=True)
    (here / "placement.conf").rename(usual / "placement.conf")
    (usual / "placement.conf.d" / "database.conf").write_text(SECRET.format(here=here))
    assert is_used(here)


def test_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", f"sqlite:///{here}/secret.sqlite")
    assert is_used(here, "--config-file", str(here / "placement.conf"))


def test_a_directory_is_passed_to_the_workers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIMSOLL_CONFIG_FILES", raising=False)
    monkeypatch.setattr("plimsoll.server.supervisor.run", lambda *_, **__: None)
    (here / "credentials").mkdir()
    file = str(here / "placement.conf")
    options = ["--config-dir", str(here / "credentials"), "--config-file", file]
    assert CliRunner().invoke(main, ["db", "sync", *options]).exit_code == 0
    monkeypatch.setenv("PLIMSOLL_CONFIG_FILES", "")  # so that it is put back afterwards
    done = CliRunner().invoke(main, ["serve", "--port", "0", *options])
    assert done.exit_code == 0, done.output
    assert os.environ["PLIMSOLL_CONFIG_FILES"] == f"{file}:{here}/credentials"
