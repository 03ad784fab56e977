# SPDX-License-Identifier: Apache-2.0

"""deploy/apache: Apache with mod_wsgi serves with the configuration of the example."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy import deployed, examples, scenarios
from tests.deploy.deployed import Deployed
from tests.support.servers import places, programs
from tests.support.servers.places import free_port

MODULES = [Path("/usr/lib/apache2/modules"), Path("/usr/lib64/httpd/modules")]
PROCESSES = 2
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

# The configuration of a server, which includes the example.
SERVER_CONFIG = """
ServerName localhost
PidFile {directory}/pid
ErrorLog {directory}/log
DefaultRuntimeDir {directory}
Mutex file:{directory}
WSGISocketPrefix {directory}/wsgi
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
User {user}
Group {group}
Include {directory}/plimsoll.conf
"""


def missing() -> str | None:
    """Return the reason if Apache cannot be started on this machine."""
    modules = next((place for place in MODULES if (place / "mod_wsgi.so").exists()), None)
    if modules is None or apache() is None:
        return "Apache or mod_wsgi is not installed"
    linked = subprocess.run(["ldd", modules / "mod_wsgi.so"], capture_output=True, text=True).stdout
    if f"lib{PYTHON}" not in linked:
        return f"mod_wsgi has another Python than {PYTHON}"
    if not Path(f"/usr/bin/{PYTHON}").exists():
        return f"there is no /usr/bin/{PYTHON} to make an environment with"
    return None


def apache() -> Path | None:
    for name in ("apache2", "httpd"):
        try:
            return programs.find(name)
        except programs.Missing:
            continue
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=f"not run: Apache, {missing()}")


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that another account can read: Apache does not serve as root."""
    directory = places.make_directory(in_memory=False)
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def make_environment(place: Path) -> None:
    """Create an environment for the Python of mod_wsgi, with the packages of the test environment."""
    make: list[str | Path] = [f"/usr/bin/{PYTHON}", "-m", "venv", "--without-pip", place]
    subprocess.run(make, check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    (place / "lib" / PYTHON / "site-packages" / "plimsoll.pth").write_text("\n".join(deployed.PACKAGES))
    shutil.copy(examples.DEPLOY / "apache" / "plimsoll.wsgi", place)


@pytest.fixture
def service(directory: Path) -> Iterator[Deployed]:
    port, home = free_port(), directory / "plimsoll"
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    group = "#" + str(account.pw_gid)
    make_environment(home)
    state = directory / "state"
    state.mkdir()
    os.chown(state, account.pw_uid, account.pw_gid)
    deployed.settings(state)
    adapted = examples.adapted(
        "apache/plimsoll.conf",
        {
            "127.0.0.1:8778": f"127.0.0.1:{port}",
            "processes=1": f"processes={PROCESSES}",
            "user=placement group=placement": f"user={account.pw_name} group={group}",
            "/opt/plimsoll": home,
            "/var/log/apache2/plimsoll.log": directory / "log",
        },
    )
    (directory / "plimsoll.conf").write_text(adapted)
    modules = next(place for place in MODULES if (place / "mod_wsgi.so").exists())
    (directory / "httpd.conf").write_text(
        SERVER_CONFIG.format(directory=directory, modules=modules, user=account.pw_name, group=group)
    )
    command: list[str | Path] = [
        str(apache()),
        "-d",
        directory,
        "-f",
        directory / "httpd.conf",
        "-DFOREGROUND",
    ]
    environment = deployed.environment(state)
    del environment["PYTHONPATH"]
    with Deployed(command, port, directory, environment) as service:
        yield service


def test_the_example_serves_and_restarts(service: Deployed) -> None:
    host = scenarios.reads_and_writes(service)
    scenarios.http_edge_cases(service)
    scenarios.under_a_prefix(service)
    daemons = [pid for pid in service.processes if "wsgi:plimsoll" in name_of(pid)]
    assert len(daemons) == PROCESSES
    assert all(Path(f"/proc/{pid}").stat().st_uid != 0 for pid in daemons) or os.geteuid() != 0
    service.restart()
    assert scenarios.used_amount(service, host) == scenarios.CAPACITY


def name_of(pid: int) -> str:
    return re.sub(r"\0+", " ", Path(f"/proc/{pid}/cmdline").read_text())
