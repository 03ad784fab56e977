# SPDX-License-Identifier: Apache-2.0

"""If openstack-placement is installed too, the commands and entry points of plimsoll-as-placement refuse to start."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.as_placement.installation import ROOT, clean_environment
from tests.storage import reference

SOURCES = f"{ROOT / 'as-placement' / 'src'}:{ROOT / 'src'}"

TRY_ALL = """
import contextlib, io, json, sys
from oslo_config import cfg
from placement import deploy, wsgi
from placement.cmd import api, manage, status

def run(command, *arguments):
    sys.argv = ["command", *arguments]
    with contextlib.redirect_stderr(io.StringIO()) as stderr:
        return [command(), stderr.getvalue()]

def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return [type(error).__name__, str(error)]

print(json.dumps({
    "placement-manage": run(manage.main, "db", "sync"),
    "placement-status": run(status.main, "upgrade", "check"),
    "placement-api": run(api.main, "--port", "0"),
    "init_application": raised(wsgi.init_application),
    "loadapp": raised(deploy.loadapp, cfg.ConfigOpts()),
}))
"""


def test_each_error_names_the_packages_to_remove(tmp_path: Path) -> None:
    """Run our sources with the Python of the reference, before its packages in the search path."""
    if not (reference.BIN / "python").exists():
        pytest.skip("needs the reference: run `make test`, which installs it")
    settings = {
        "PYTHONPATH": SOURCES,
        "PYTHONDONTWRITEBYTECODE": "1",
        "OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{tmp_path}/placement.sqlite",
    }
    done = subprocess.run(
        [reference.BIN / "python", "-c", TRY_ALL],
        env=clean_environment() | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    message = (
        "openstack-placement 16.0.0 is installed in the same environment as plimsoll-as-placement. Both are the"
        " package `placement`, and parts of each would run. Remove both with `pip uninstall openstack-placement"
        " plimsoll-as-placement`, then install the one that you want to run."
    )
    command, function = [1, f"Error: {message}\n"], ["BesideReferenceError", message]
    assert output == {
        "placement-manage": command,
        "placement-status": command,
        "placement-api": command,
        "init_application": function,
        "loadapp": function,
    }
    assert list(tmp_path.iterdir()) == []
