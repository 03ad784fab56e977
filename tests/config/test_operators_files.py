# SPDX-License-Identifier: Apache-2.0

"""Files that deployment tools and distributions write are accepted unchanged, with the same effect.

`files/` has one of each, with the sections of the original and with values of our own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from plimsoll.access import authplugin
from plimsoll.cli import config_lint, main
from plimsoll.config import loader

ROOT = Path(__file__).parents[2]
REFERENCE_PYTHON = ROOT / ".venv-reference" / "bin" / "python"
FILES = sorted((Path(__file__).parent / "files").glob("*.conf"))

EFFECTIVE = """
import json, logging, sys
from oslo_config import cfg
from placement import conf as placement_conf, wsgi
logging.disable()
found = []
for file in sys.argv[1:]:
    conf = cfg.ConfigOpts()
    wsgi._parse_args(conf, ["x", "--config-file", file], default_config_files=[])
    groups = [name for name in conf if isinstance(conf[name], cfg.ConfigOpts.GroupAttr)]
    options = {group: dict(conf[group]) for group in groups}
    options["DEFAULT"] = {name: conf[name] for name in conf if name not in groups}
    found.append(options)
print(json.dumps(found, default=str))
"""

# For each file: load the service, and print the status with and without the need for a token.
SERVED = """
import sys
from plimsoll import wsgi
for file in sys.argv[1:]:
    import os
    os.environ["PLIMSOLL_CONFIG_FILES"] = file
    application = wsgi.load_application()
    for path in ("/", "/resource_providers"):
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "SCRIPT_NAME": "", "SERVER_NAME": "x",
            "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http", "wsgi.input": sys.stdin.buffer,
            "wsgi.version": (1, 0), "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False}
        list(application(environ, lambda status, *_: print(os.path.basename(file), path, status[:3])))
"""


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("OS_"):
            monkeypatch.delenv(name)


def named(file: Path) -> str:
    return file.stem


@pytest.fixture(scope="module")
def theirs() -> dict[str, dict[str, Any]]:
    if not REFERENCE_PYTHON.exists():
        pytest.skip("needs the reference: make test installs it")
    process = subprocess.run(
        [REFERENCE_PYTHON, "-c", EFFECTIVE, *FILES], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert process.returncode == 0, process.stderr
    return dict(zip(map(named, FILES), json.loads(process.stdout), strict=True))


@pytest.mark.parametrize("file", FILES, ids=named)
def test_every_value_equals_that_of_the_reference(file: Path, theirs: dict[str, dict[str, Any]]) -> None:
    conf = loader.load([str(file)])
    wanted = theirs[named(file)]
    # Paths that differ between the two services.
    for name in ("pybasedir", "state_path", "config_file", "config_dir"):
        if name not in file.read_text():
            wanted["DEFAULT"].pop(name)
    ours = {
        group: {name: (conf if group == "DEFAULT" else conf[group])[name] for name in options}
        for group, options in wanted.items()
    }
    assert json.loads(json.dumps(ours, default=str)) == wanted


@pytest.mark.parametrize("file", FILES, ids=named)
def test_ignored_settings_are_no_warnings(file: Path) -> None:
    assert [setting for setting in config_lint.lint(loader.load([str(file)])) if setting.is_warning] == []


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_options_of_the_plugin_are_known_and_no_secret_is_shown(file: Path) -> None:
    shown = CliRunner().invoke(main, ["config", "show", "--config-file", str(file)])
    assert shown.exit_code == 0, shown.output
    assert f"[{authplugin.SECTION}] username = placement  ({file}:" in shown.stdout
    assert f"[{authplugin.SECTION}] password = ***  ({file}:" in shown.stdout
    assert "[placement_database] connection = ***" in shown.stdout


def test_a_service_starts_with_each_of_them(tmp_path: Path) -> None:
    """Only the database, the log and the token cache are replaced: those of the files do not exist on this machine."""
    logging = tmp_path / "logging.conf"
    logging.write_text(
        "[loggers]\nkeys = root\n[handlers]\nkeys = null\n[formatters]\nkeys =\n"
        "[logger_root]\nlevel = WARNING\nhandlers = null\n[handler_null]\nclass = logging.NullHandler\nargs = ()\n"
    )
    here = {
        "OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{tmp_path}/placement.sqlite",
        "OS_PLACEMENT_DATABASE__CONNECTION_PARAMETERS": "",
        "OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP": "true",
        "OS_DEFAULT__LOG_CONFIG_APPEND": str(logging),
        "OS_KEYSTONE_AUTHTOKEN__MEMCACHED_SERVERS": "",
    }
    served = subprocess.run(
        [sys.executable, "-c", SERVED, *FILES],
        env={**os.environ, **here},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=240,
    )
    assert served.returncode == 0, served.stderr
    assert served.stdout.splitlines() == [
        f"{file.name} {path}" for file in FILES for path in ("/ 200", "/resource_providers 401")
    ]
