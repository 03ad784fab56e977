# SPDX-License-Identifier: Apache-2.0

"""Puts the application under test where the reference's fixtures expect their own.

The reference's fixture classes build each world with the reference's code, but in a SQLite file whose
schema the application under test created; the application is made from the configuration that the
fixture prepared, at the first request, and closed before the fixture tears the file down.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml
from placement import db_api, deploy
from placement.tests import fixtures
from placement.tests.functional.fixtures import gabbits
from placement.tests.unit import policy_fixture

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

APPLICATIONS = ("plimsoll", "reference")


def scratch_directory() -> Path:
    """Where database files go: memory-backed when the system has it, since each case commits."""
    shared_memory = Path("/dev/shm")
    parent = shared_memory if os.access(shared_memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="plimsoll-conformance-", dir=parent))


def empty_database(app: str, directory: Path) -> Path:
    """A database file with a schema and no data, to be copied for each world."""
    path = directory / f"empty-{app}.db"
    environment = os.environ | {
        "OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{path}",
        "OS_API__AUTH_STRATEGY": "noauth2",
    }
    command = {
        "plimsoll": [sys.executable, "-m", "plimsoll.cli", "db", "sync"],
        "reference": [str(Path(sys.executable).with_name("placement-manage")), "db", "sync"],
    }[app]
    subprocess.run(command, env=environment, check=True)
    return path


class Stage:
    """The application under test and the file it works on, replaced for each world."""

    def __init__(self, app: str, directory: Path, empty: Path) -> None:
        self._app = app
        self._directory = directory
        self._empty = empty
        self._conf: Any = None
        self._application: Application | None = None
        self._worlds = 0
        self.problems: list[str] = []  # what the last world's database was found to lack

    def install(self) -> None:
        """Make the reference's fixtures use this stage; the fixture classes stay as they are."""
        stage = self
        original_set_rules = policy_fixture.PolicyFixture.set_rules

        class FileDatabase(fixtures.Database):  # type: ignore[misc]
            def __init__(self, conf_fixture: Any, set_config: bool = False) -> None:
                conf_fixture.config(group="placement_database", connection=stage.new_file())
                super().__init__(conf_fixture, set_config)

            def generate_schema_create_all(self, engine: Any) -> None:
                self.addCleanup(db_api.placement_context_manager.patch_engine(engine))
                self.addCleanup(self.cleanup)
                self.cleanup()
                deploy.update_database(self.conf_fixture.conf)

            def cleanUp(self, *args: Any, **kwargs: Any) -> Any:
                stage.close()
                return super().cleanUp(*args, **kwargs)

        def set_rules(rules: dict[str, str], overwrite: bool = True) -> None:
            original_set_rules(rules, overwrite)
            stage.write_policy_file(rules)

        fixtures.Database = FileDatabase
        policy_fixture.PolicyFixture.set_rules = staticmethod(set_rules)

    def new_file(self) -> str:
        self._worlds += 1
        path = self._directory / f"world-{os.getpid()}-{self._worlds}.db"
        shutil.copy(self._empty, path)
        return f"sqlite:///{path}"

    def write_policy_file(self, rules: dict[str, str]) -> None:
        """A fixture changed the rules in the reference's enforcer: say the same in a policy file."""
        path = self._directory / f"policy-{os.getpid()}-{self._worlds}.yaml"
        path.write_text(yaml.safe_dump(rules))
        gabbits.CONF.set_override("policy_file", str(path), group="oslo_policy")

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self._application is None or self._conf is not gabbits.CONF:
            self._conf = gabbits.CONF
            self._application = self._make(self._conf)
        return self._application(environ, start_response)

    def _make(self, conf: Any) -> Application:
        if self._app == "reference":
            reference: Application = deploy.loadapp(conf)
            return reference
        from plimsoll.wsgi import make_application

        ours: Application = make_application(conf)
        return ours

    def close(self) -> None:
        """The world is over: what it left in the database must be consistent."""
        if self._application is not None and self._app == "plimsoll":
            from plimsoll.bootstrap import verify

            self.problems = [str(finding) for finding in verify(self._conf) if finding.severity != "note"]
        self._application = None
        self._conf = None
