# SPDX-License-Identifier: Apache-2.0

"""The commands of the guide to backups are run on each engine: what was there at the time of the backup is there again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.support.api import api
from tests.support.databases import Databases
from tests.support.servers import programs
from tests.support.servers.postgresql import DIRECTORIES
from tests.takeover.cloud import uuid_of

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "backup.md"
PROGRAMS = {"mariadb": ("mariadb-dump", "mariadb"), "postgresql": ("pg_dump", "psql"), "sqlite": ()}


def command(step: str, url: str) -> str:
    """Return the commands of a step, with the address of this database."""
    (found,) = re.findall(rf"^ *```sh {step}\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    at = make_url(url)
    if at.get_backend_name() == "mysql":
        address = f"--no-defaults --host={at.host} --port={at.port} --user={at.username}"
        found = found.replace("--host=db --user=placement --password", address)
        found = re.sub(r"(?<= )placement(?= )", str(at.database), found)
    elif at.get_backend_name() == "postgresql":
        address = f"postgresql://{at.username}@{at.host}:{at.port}/{at.database}"
        found = found.replace("postgresql://placement@db/placement", address)
    return textwrap.dedent(found.replace("/var/lib/plimsoll/plimsoll.sqlite", str(at.database)))


def run(step: str, url: str, directory: Path) -> None:
    engine = step.partition("-")[0]
    folders = [str(programs.find(each, *DIRECTORIES).parent) for each in PROGRAMS[engine]]
    environment = os.environ | {"PATH": os.pathsep.join([*folders, os.environ["PATH"]])}
    ran = subprocess.run(
        ["bash", "-ec", command(step, url)],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def claim(host: str) -> dict[str, object]:
    return {
        "allocations": {host: {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


@pytest.mark.skipif(shutil.which("python3") is None, reason="the page uses python3")
def test_a_backup_that_was_made_while_the_service_runs_can_be_restored(
    databases: Databases, tmp_path: Path
) -> None:
    engine = databases.engine
    with databases.fresh() as url:
        with api(url) as service:
            host = service.host(uuid_of("host"), "host", VCPU=8)
            assert service.put(f"/allocations/{uuid_of('before')}", claim(host)).status == 204
            run(f"{engine}-dump", url, tmp_path)
            assert service.put(f"/allocations/{uuid_of('after')}", claim(host)).status == 204
        run(f"{engine}-restore", url, tmp_path)
        with api(url) as service:
            usages = service.get(f"/resource_providers/{host}/usages").json["usages"]
            assert usages == {"VCPU": 1}
            assert service.get(f"/allocations/{uuid_of('before')}").json["allocations"] != {}
            assert service.get(f"/allocations/{uuid_of('after')}").json["allocations"] == {}
