# SPDX-License-Identifier: Apache-2.0

"""Replace the application of the reference's fixtures by the application under test.

The reference's fixture classes fill each database with the reference's code, but its schema was created by the
application under test. The application is made at the first request, from the configuration of the fixture, and
closed before the fixture releases the database.
"""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from oslo_db.sqlalchemy import provision
from placement import db_api, deploy
from placement.tests import fixtures
from placement.tests.functional.fixtures import gabbits
from placement.tests.unit import policy_fixture

from tests.conformance.sites import Site, upstream_url

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

APPLICATIONS = ("plimsoll", "reference")


def model_database(app: str, site: Site) -> str:
    """Create a database with a schema and no data, which is copied for each test file."""
    name = f"{app}_model"
    site.create_database(name)
    environment = os.environ | {
        "OS_PLACEMENT_DATABASE__CONNECTION": upstream_url(site, name),
        "OS_API__AUTH_STRATEGY": "noauth2",
    }
    command = {
        "plimsoll": [sys.executable, "-m", "plimsoll.cli", "db", "sync"],
        "reference": [str(Path(sys.executable).with_name("placement-manage")), "db", "sync"],
    }[app]
    subprocess.run(command, env=environment, check=True)
    return name


class NullBackend:
    """Replaces the backend that the fixture looks up before it uses the given database."""

    def _verify(self) -> "NullBackend":
        return self


class ApplicationUnderTest:
    """The application under test and its database, replaced for each test file."""

    def __init__(self, app: str, site: Site, model: str, directory: Path) -> None:
        self._app = app
        self._site = site
        self._model = model
        self._directory = directory
        self._conf: Any = None
        self._application: Application | None = None
        self._placement: Any = None
        self._databases = 0
        self.problems: list[str] = []  # inconsistencies in the last database
        self.violations: list[str] = []  # responses that are not as the OpenAPI documents describe them

    def install(self) -> None:
        """Make the reference's fixtures use this application; the fixture classes stay unmodified."""
        under_test = self
        original_set_rules = policy_fixture.PolicyFixture.set_rules

        class DatabaseUnderTest(fixtures.Database):  # type: ignore[misc]
            def __init__(self, conf_fixture: Any, set_config: bool = False) -> None:
                conf_fixture.config(group="placement_database", connection=under_test.new_database())
                super().__init__(conf_fixture, set_config)

            def generate_schema_create_all(self, engine: Any) -> None:
                self.addCleanup(db_api.placement_context_manager.patch_engine(engine))
                self.addCleanup(self.cleanup)
                self.cleanup()
                deploy.update_database(self.conf_fixture.conf)

            def cleanUp(self, *args: Any, **kwargs: Any) -> Any:
                under_test.close()
                try:
                    return super().cleanUp(*args, **kwargs)
                finally:
                    under_test.drop_database()

        def set_rules(rules: dict[str, str], overwrite: bool = True) -> None:
            original_set_rules(rules, overwrite)
            under_test.write_policy_file(rules)

        # The fixture empties the database at its end. It is dropped here instead.
        provision.Backend.drop_all_objects = lambda self, engine: None
        provision.Backend.backends_by_database_type = defaultdict(NullBackend)
        fixtures.Database = DatabaseUnderTest
        policy_fixture.PolicyFixture.set_rules = staticmethod(set_rules)

    def new_database(self) -> str:
        self._databases += 1
        self._site.create_database(self._database(), like=self._model)
        return upstream_url(self._site, self._database())

    def drop_database(self) -> None:
        self._site.drop_database(self._database())

    def _database(self) -> str:
        return f"case_{os.getpid()}_{self._databases}"

    def write_policy_file(self, rules: dict[str, str]) -> None:
        """Write the rules that a fixture has set in the reference's enforcer into a policy file."""
        path = self._directory / f"policy-{os.getpid()}-{self._databases}.yaml"
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
        from plimsoll.access import Policy, with_authentication
        from plimsoll.api.app import make_app
        from plimsoll.bootstrap import open_placement
        from plimsoll.config import loader
        from plimsoll.runtime.threads import Threads
        from tests.support.openapi import CheckedApplication

        loader.register(conf)
        self._placement = open_placement(conf)
        authenticate = partial(with_authentication, conf=conf, runtime=Threads())
        app = make_app(self._placement, Policy(conf), conf, authenticate=authenticate)
        checked: Application = CheckedApplication(app, self.violations)
        return checked

    def close(self) -> None:
        """Close the application. The database must be consistent, and the state in memory must be equal to it."""
        if self._placement is not None:
            from plimsoll.bootstrap import verify
            from plimsoll.ledger.verify import differences

            self.problems = [str(finding) for finding in verify(self._conf) if finding.severity != "note"]
            self.problems += differences(self._placement.ledger)
            self._placement.close()
        self._application = self._placement = self._conf = None
