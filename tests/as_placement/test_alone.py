# SPDX-License-Identifier: Apache-2.0

"""Where openstack-placement is installed too, nothing of ours starts under its names."""

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

def said(command, *words):
    sys.argv = ["command", *words]
    with contextlib.redirect_stderr(io.StringIO()) as stderr:
        return [command(), stderr.getvalue()]

def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return [type(error).__name__, str(error)]

print(json.dumps({
    "placement-manage": said(manage.main, "db", "sync"),
    "placement-status": said(status.main, "upgrade", "check"),
    "placement-api": said(api.main, "--port", "0"),
    "init_application": raised(wsgi.init_application),
    "loadapp": raised(deploy.loadapp, cfg.ConfigOpts()),
}))
"""


def test_each_says_which_to_remove(tmp_path: Path) -> None:
    """Ours in the environment of the reference, and found before it."""
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
    said = json.loads(done.stdout)
    words = (
        "openstack-placement 16.0.0 is installed in the same environment as plimsoll-as-placement. Both are the"
        " package `placement`, and parts of each would run. Remove both with `pip uninstall openstack-placement"
        " plimsoll-as-placement`, then install the one that is to serve."
    )
    command, function = [1, f"Error: {words}\n"], ["BesideReferenceError", words]
    assert said == {
        "placement-manage": command,
        "placement-status": command,
        "placement-api": command,
        "init_application": function,
        "loadapp": function,
    }
    assert list(tmp_path.iterdir()) == []
