# SPDX-License-Identifier: Apache-2.0

"""Errors in settings are reported in one line, with file, line, section and option, and without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main

ROOT = Path(__file__).parents[2]

NAMED = "[placement_database]\nconnection = sqlite:////srv/placement.sqlite\n"
NOT_A_URL = "This is not a database URL. It has the form mysql+pymysql://"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, without_settings: None) -> None:
    os.environ["HOME"] = str(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placement.conf"


def plimsoll(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def is_one_line(done: Result) -> bool:
    return done.exit_code in (1, 2) and done.stderr.count("\n") == 1 and done.stderr.startswith("Error: ")


# The text of the file from its second line on, and the expected error. {here} is the directory of the file.
MISTAKES = {
    "a number": (
        "[placement_database]\nmax_retries = often",
        "{file}:3: [placement_database] max_retries: invalid literal",
    ),
    "a choice": ("[api]\nauth_strategy = magic", "{file}:3: [api] auth_strategy: Valid values are [keystone, noauth2]"),
    "a truth": ("[oslo_policy]\nenforce_new_defaults = maybe", "{file}:3: [oslo_policy] enforce_new_defaults: Unexpected"),
    "an old name": ("[DEFAULT]\nauth_strategy = magic", "{file}: [api] auth_strategy: Valid values are"),
    "a dollar": ("[placement_database]\nconnection = mysql://u:pa$word@h/p", "{file}:3: [placement_database] connection: no such option word in group [DEFAULT]; write $$ for a dollar sign"),
    "a value of several lines": ("[plimsoll]\nthreads = 1\n  2\n", "{file}:3: [plimsoll] threads: invalid literal"),
    "no end of a section": ("[api\n", "{file}:2: Invalid section"),
    "no value": ("[api]\nauth_strategy\n", "{file}:3: No ':' or '=' found in assignment"),
    "a continuation of nothing": ("[api]\n   strategy\n", "{file}:3: Unexpected continuation line"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize(
    "command", [("serve", "--port", "0"), ("db", "version"), ("policy", "list")], ids=" ".join
)
def test_every_command_reports_an_invalid_value(file: Path, mistake: str, command: tuple[str, ...]) -> None:
    text, expected = MISTAKES[mistake]
    file.write_text(f"# ours\n{text}\n")
    done = plimsoll(*command, "--config-file", str(file))
    assert is_one_line(done), done.output
    assert expected.format(file=file) in done.stderr


@pytest.mark.parametrize(
    "url", ["mysql:/u:hush@h/p", "hush", "mysql+pymysql://u:hush@h:port/p", "postgresql//hush"]
)
@pytest.mark.parametrize(
    "command", [("serve", "--port", "0"), ("db", "sync"), ("db", "verify")], ids=" ".join
)
def test_an_invalid_url_is_reported_with_its_place_and_not_printed(
    file: Path, url: str, command: tuple[str, ...]
) -> None:
    file.write_text(f"[placement_database]\nconnection = {url}\n")
    done = plimsoll(*command, "--config-file", str(file))
    assert is_one_line(done), done.output
    assert f"{file}:2: [placement_database] connection: {NOT_A_URL}" in done.stderr
    assert "hush" not in done.output


def test_an_invalid_url_in_the_environment_is_reported_with_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", "oracle://u:hush@h/p")
    done = plimsoll("db", "version")
    assert done.stderr == (
        "Error: environment variable OS_PLACEMENT_DATABASE__CONNECTION: [placement_database] connection: oracle"
        " databases are not supported; these are: mariadb, mysql, postgresql, sqlite\n"
    )


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("log_config_append = {here}/absent.ini", "log_config_append: {here}/absent.ini: No such file or directory"),
        ("log_config_append = {here}/garbage", "log_config_append: {here}/garbage: File contains no section headers"),
        ("log_config_append = {here}/placement.conf", "log_config_append: {here}/placement.conf: not a configuration"),
        ("log_file = {here}/absent/placement.log", "log_file: {here}/absent: there is no such directory"),
        ("log_dir = {here}/absent", "log_dir: {here}/absent: there is no such directory"),
        ("log_file = {here}", "log_file: {here}: this is a directory"),
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_written_stops_the_start(file: Path, setting: str, expected: str) -> None:
    (file.parent / "garbage").write_text("garbage")
    file.write_text(f"{NAMED}[DEFAULT]\n{setting.format(here=file.parent)}\n")
    done = plimsoll("serve", "--port", "0", "--config-file", str(file))
    assert is_one_line(done), done.output
    assert f"{file}:4: [DEFAULT] {expected.format(here=file.parent)}" in done.stderr


def test_a_policy_that_is_broken_stops_the_start(file: Path) -> None:
    file.write_text(NAMED)
    (file.parent / "policy.yaml").write_text('"a": "role:b"\n{')
    done = plimsoll("serve", "--port", "0", "--config-file", str(file))
    assert is_one_line(done), done.output
    assert f"The policy cannot be used: {file.parent}/policy.yaml:2: " in done.stderr


def test_a_missing_plugin_for_keystone_stops_the_start(file: Path) -> None:
    file.write_text(f"{NAMED}[keystone_authtoken]\nauth_type = pasword\n")
    done = plimsoll("serve", "--port", "0", "--config-file", str(file))
    assert is_one_line(done), done.output
    assert (
        f"{file}:4: [keystone_authtoken] auth_type: there is no plugin 'pasword', but these: " in done.stderr
    )


def test_the_error_names_a_file_that_is_missing_binary_or_a_directory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_PLACEMENT_CONFIG_DIR", str(file.parent))
    assert plimsoll("db", "version").stderr == f"Error: {file}: there is no such file\n"
    file.write_bytes(b"[DEFAULT]\nx = \xff\n")
    done = plimsoll("db", "version", "--config-file", str(file))
    assert done.stderr == f"Error: {file}: not a text in UTF-8, at byte 14\n"
    file.unlink()
    file.mkdir()
    assert plimsoll("db", "version").stderr == f"Error: {file}: Is a directory\n"


UNREAD = """
import os, sys
from plimsoll.config import loader
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    loader.load([sys.argv[1]])
except loader.ConfigError as error:
    print(error)
"""


def test_the_error_names_a_file_without_read_permission(file: Path) -> None:
    file.write_text("[DEFAULT]\n")
    file.chmod(0)
    ran = subprocess.run(
        [sys.executable, "-c", UNREAD, file],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
    assert ran.stdout == f"{file}: Permission denied\n", ran.stderr


def test_several_mistakes_are_reported_together(file: Path) -> None:
    file.write_text("[plimsoll]\nthreads = 0\n[placement_database]\nmax_retries = x\n")
    done = plimsoll("db", "version", "--config-file", str(file))
    assert done.stderr.count(f"{file}:") == 2


RAISED = """
from plimsoll import wsgi
from plimsoll.config import loader
for entry in (wsgi.load_application, lambda: wsgi.application({}, None)):
    try:
        entry()
    except loader.ConfigError as error:
        print("raised", error)
"""


def test_the_wsgi_entry_point_raises_the_same_message(file: Path) -> None:
    file.write_text(f"[placement_database]\nconnection = nonsense\n[DEFAULT]\nlog_file = {file.parent}/log\n")
    ran = subprocess.run(
        [sys.executable, "-c", RAISED],
        env={**os.environ, "OS_PLACEMENT_CONFIG_DIR": str(file.parent)},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
    expected = f"raised {file}:2: [placement_database] connection: {NOT_A_URL}"
    assert [line[: len(expected)] for line in ran.stdout.splitlines()] == [expected, expected], ran.stderr
