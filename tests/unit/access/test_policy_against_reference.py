# SPDX-License-Identifier: Apache-2.0

"""Every decision equals the reference's: for all rules, many callers and many policy files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from plimsoll.access import Policy
from plimsoll.access.identity import caller_from_environ
from plimsoll.access.policy_rules import BASE_RULES, RULES
from plimsoll.config import loader

ROOT = Path(__file__).parents[3]
REFERENCE_PYTHON = ROOT / ".venv-reference" / "bin" / "python"

pytestmark = [
    pytest.mark.skipif(not REFERENCE_PYTHON.exists(), reason="needs the reference: make test installs it"),
    # One of the policy files overrides a deprecated rule, of which oslo.policy warns.
    pytest.mark.filterwarnings("ignore:Policy "),
]

OWN, OTHER = "project-of-the-caller", "another-project"

CALLERS = {
    "admin": {"HTTP_X_ROLES": "admin,member,reader"},
    "admin in capitals": {"HTTP_X_ROLES": "Admin"},
    "service": {"HTTP_X_ROLES": "service"},
    "admin and service": {"HTTP_X_ROLES": "admin, service"},
    "member": {"HTTP_X_ROLES": "member,reader"},
    "reader": {"HTTP_X_ROLES": "reader"},
    "operator": {"HTTP_X_ROLES": "operator"},
    "no role": {},
    "empty role": {"HTTP_X_ROLES": ""},
    "old role header": {"HTTP_X_ROLE": "admin"},
    "old project header": {"HTTP_X_TENANT": OWN, "HTTP_X_ROLES": "reader"},
    "system admin": {"HTTP_X_ROLES": "admin", "HTTP_OPENSTACK_SYSTEM_SCOPE": "all"},
    "system reader": {"HTTP_X_ROLES": "reader", "HTTP_OPENSTACK_SYSTEM_SCOPE": "all"},
    "domain admin": {"HTTP_X_ROLES": "admin", "HTTP_X_DOMAIN_ID": "default"},
    "with a service token": {"HTTP_X_SERVICE_ROLES": "service, admin", "HTTP_X_SERVICE_USER_ID": "nova"},
    "outside the admin project": {"HTTP_X_ROLES": "admin", "HTTP_X_IS_ADMIN_PROJECT": "False"},
    "from a domain": {"HTTP_X_USER_DOMAIN_ID": "d1", "HTTP_X_PROJECT_DOMAIN_ID": "d2"},
}
for environ in CALLERS.values():
    environ["HTTP_X_USER_ID"] = "caller"
    if "HTTP_OPENSTACK_SYSTEM_SCOPE" not in environ and "HTTP_X_TENANT" not in environ:
        environ["HTTP_X_PROJECT_ID"] = OWN

TARGETS: dict[str, dict[str, str] | None] = {
    "their own": None,
    "own project": {"project_id": OWN},
    "another project": {"project_id": OTHER},
    "another user": {"project_id": OWN, "user_id": "someone"},
    "nothing in particular": {},
}

POLICY_FILES = {
    "none": None,
    "operators may list": '"placement:resource_providers:list": "role:operator or rule:admin_api"\n',
    "the old rule overridden": '"rule:admin_api": "role:operator"\n',
    "admins redefined": '"admin_api": "role:operator"\n"admin_or_service_api": "rule:admin_api"\n',
    "all sorts of checks": """
"placement:usages": "user_id:%(user_id)s or project_id:%(project_id)s"
"placement:traits:list": "@"
"placement:traits:show": "!"
"placement:traits:update": "not role:reader"
"placement:resource_providers:show": "is_admin_project:True and role:admin"
"placement:resource_providers:create": "service_roles:admin"
"placement:resource_providers:update": "service_user_id:nova"
"placement:resource_providers:delete": "user_domain_id:d1 and project_domain_id:d2"
"placement:allocations:list": "'caller':%(user_id)s"
"placement:allocations:update": "system_scope:all or domain_id:default"
"placement:allocations:manage": "rule:nowhere"
"placement:reshaper:reshape": "rule:admin_api or role:reader and not role:member"
""",
}

PLACEMENT_RULES = [*BASE_RULES, *RULES]
ALL_RULES = [rule.name for rule in PLACEMENT_RULES]


def rules_to_ask(policy_text: str | None) -> list[str]:
    """Return all rules for the defaults; for a file, the rules it names and three with different defaults."""
    if policy_text is None:
        return ALL_RULES
    telling = {"placement:usages", "placement:reshaper:reshape", "placement:resource_providers:list"}
    return [name for name in ALL_RULES if name in telling or f'"{name}":' in policy_text]


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    directory = tmp_path_factory.mktemp("policies")
    made = {}
    for name, text in POLICY_FILES.items():
        file = directory / f"{name.replace(' ', '-')}.yaml"
        if text is not None:
            file.write_text(text)
        for strict in (True, False):
            made[f"{name}, {'new' if strict else 'old'} defaults"] = {
                "policy_file": str(file),
                "enforce_new_defaults": strict,
                "callers": CALLERS,
                "targets": TARGETS,
                "rules": rules_to_ask(text),
            }
    return made


@pytest.fixture(scope="module")
def reference(scenarios: dict[str, dict[str, Any]]) -> dict[str, Any]:
    process = subprocess.run(
        [REFERENCE_PYTHON, Path(__file__).with_name("reference_verdicts.py")],
        input=json.dumps(list(scenarios.values())),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert process.returncode == 0, process.stderr
    output = json.loads(process.stdout)
    return {"rules": output["rules"], "verdicts": dict(zip(scenarios, output["verdicts"], strict=True))}


EXTENSIONS = {"GET /allocations"}
"""Operations that the reference does not have."""


def test_names_checks_scopes_and_operations_are_the_references(reference: dict[str, Any]) -> None:
    ours = {
        rule.name: {
            "check": rule.check_str,
            "scopes": rule.scope_types,
            "deprecated": rule.deprecated_rule
            and [
                rule.deprecated_rule.name,
                rule.deprecated_rule.check_str,
                rule.deprecated_rule.deprecated_since,
            ],
            "operations": sorted(
                operation
                for each in getattr(rule, "operations", ())
                if (operation := f"{each['method']} {each['path']}") not in EXTENSIONS
            ),
        }
        for rule in PLACEMENT_RULES
    }
    assert ours == reference["rules"]


@pytest.mark.parametrize("defaults", ["new", "old"])
@pytest.mark.parametrize("file", POLICY_FILES)
def test_decisions_equal_the_references(
    file: str, defaults: str, scenarios: dict[str, dict[str, Any]], reference: dict[str, Any]
) -> None:
    scenario = scenarios[f"{file}, {defaults} defaults"]
    conf = cfg.ConfigOpts()
    loader.register(conf)
    conf([], default_config_files=[])
    conf.set_override("enforce_new_defaults", scenario["enforce_new_defaults"], group="oslo_policy")
    conf.set_override("policy_file", scenario["policy_file"], group="oslo_policy")
    policy = Policy(conf)
    # Twice: computed, then from the cache.
    for _ in range(2):
        ours = {
            name: {
                f"{rule} on {target_name}": policy.allows(rule, caller_from_environ(environ), target)
                for rule in scenario["rules"]
                for target_name, target in TARGETS.items()
            }
            for name, environ in CALLERS.items()
        }
        assert ours == reference["verdicts"][f"{file}, {defaults} defaults"]


def test_the_scenarios_allow_and_deny_for_nearly_every_file(reference: dict[str, Any]) -> None:
    """If all decisions were equal, the comparison would prove nothing."""
    for name, callers in reference["verdicts"].items():
        verdicts = {verdict for decisions in callers.values() for verdict in decisions.values()}
        assert verdicts == {True, False}, name
