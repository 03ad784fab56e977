# SPDX-License-Identifier: Apache-2.0

"""The deployment guide states for every example how it was run, and each example has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deploy import examples

GUIDES = examples.ROOT / "docs" / "guides"
EXAMPLES = sorted(
    str(file.relative_to(examples.DEPLOY)) for file in examples.DEPLOY.rglob("*") if file.is_file()
)
TESTS = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_in_the_table_and_in_a_test(example: str) -> None:
    rows = [line for line in (GUIDES / "deploy.md").read_text().splitlines() if f"[{example}]" in line]
    assert len(rows) == 1
    how, run_with = (cell.strip() for cell in rows[0].split("|")[3:5])
    assert how
    assert run_with
    assert example in TESTS or Path(example).name in TESTS


@pytest.mark.parametrize("tool", ["kolla-ansible", "openstack-ansible", "openstack-helm"])
def test_guides_for_tools_say_that_they_were_not_run_and_that_one_service_stops_first(tool: str) -> None:
    text = re.sub(r"\s+", " ", (GUIDES / f"{tool}.md").read_text())
    assert re.search(r"\*\*[^*]* not run with Plimsoll\.\*\*", text)
    assert "must not run side by side on one database" in text
    assert "(take-over.md)" in text


PAGES = {
    str(page.relative_to(examples.ROOT)): page.read_text()
    for page in (
        *sorted((examples.ROOT / "docs").rglob("*.md")),
        *(file for file in sorted(examples.DEPLOY.rglob("*")) if file.is_file()),
        examples.ROOT / "README.md",
        examples.ROOT / "as-placement" / "README.md",
    )
}
GUIDED = {name: text for name, text in PAGES.items() if "guides/" in name or name == "README.md"}


def blocks(text: str) -> str:
    """Return the commands of the page's code blocks."""
    return "\n".join(re.findall(r"^ *```(?:console|sh)[^\n]*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL))


def test_load_balancers_are_given_one_probe() -> None:
    assert "option httpchk GET /healthz?ready\n" in PAGES["deploy/haproxy/plimsoll.cfg"]
    for page in ("operating", "deploy", "take-over"):
        assert "GET /healthz?ready" in PAGES[f"docs/guides/{page}.md"]
    for name, text in PAGES.items():
        assert not re.search(r"[Pp]robe[^\n]{0,20}`GET /` needs", text), name


def test_containers_are_probed_for_liveness() -> None:
    assert "127.0.0.1:8778/healthz'" in PAGES["deploy/container/Containerfile"]


def test_the_retries_of_haproxy_are_described_once() -> None:
    example = PAGES["deploy/haproxy/plimsoll.cfg"]
    settings = re.findall(
        r"`((?:retry-on|option redispatch|http-request disable)[^`]*)`", "".join(PAGES.values())
    )
    assert len(settings) == 3
    assert [setting for setting in settings if f"    {setting}\n" not in example] == []


def test_each_file_of_secrets_has_one_owner_and_one_mode() -> None:
    found: dict[str, set[tuple[str, str]]] = {}
    for name, text in PAGES.items():
        for path, owner, mode in re.findall(
            r"`(/etc/placement/[\w./]*secrets\.\w+)`[^|(\n]*[|(]\s*([\w:]+)(?: \||,) (0\d{3})", text
        ):
            found.setdefault(path, set()).add((owner, mode))
        assert name.startswith("deploy") or "mode 600" not in text, name
    assert found == {
        "/etc/placement/secrets.conf": {("root:root", "0600")},
        "/etc/placement/placement.conf.d/secrets.conf": {("root:placement", "0640")},
    }
    assert "--owner root --group root --mode 600" in PAGES["deploy/systemd/plimsoll.service.d/secrets.conf"]


def test_the_log_goes_to_the_standard_output_on_every_page() -> None:
    for name in ("docs/guides/operating.md", "docs/guides/deploy.md", "deploy/uwsgi/plimsoll-uwsgi.ini"):
        assert re.search(r"the\s+standard\s+output", PAGES[name]), name
    for name, text in PAGES.items():
        about = re.findall(r"\blogs?\b[^.\n]*\n?[^.\n]*standard\s+error", text)
        assert about == [], name


@pytest.mark.parametrize("page", GUIDED)
def test_guides_call_the_command_by_its_path(page: str) -> None:
    called = re.findall(
        r"^ *(?:[$#] )?(?:OS_\S+=\S+ )?(\S*plimsoll) (?:db|serve|status|config)", blocks(GUIDED[page]), re.M
    )
    assert set(called) <= {"/opt/plimsoll/bin/plimsoll"}


@pytest.mark.parametrize("page", PAGES)
def test_all_pages_install_in_the_same_way(page: str) -> None:
    text = PAGES[page]
    for line in re.findall(
        r"^.*pip install.*(?:\\\n.*)?$",
        blocks(text) + "".join(re.findall(r"```dockerfile\n(.*?)```", text, re.S)),
        re.M,
    ):
        if "plimsoll-" in line:
            assert "--find-links" in line, line
            assert "deploy.md" in text or page.endswith("deploy.md"), page
        elif "/opt/plimsoll/bin/pip" in line:
            assert "--constraint requirements-run.lock '.[mysql]'" in line


def test_the_guide_has_each_alert_with_its_severity_and_duration() -> None:
    rules = re.findall(
        r"- alert: (\w+)\n(.*?)annotations:", PAGES["deploy/prometheus/plimsoll.rules.yml"], re.DOTALL
    )
    expected = {}
    for name, rule in rules:
        (severity,) = re.findall(r"severity: (\w+)", rule)
        minutes = re.findall(r"for: (\d+)m$", rule, re.MULTILINE)
        expected[name] = (severity, f"{minutes[0]} min" if minutes else "")
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| [^|]+ \|([^|]*)\|", PAGES["docs/guides/monitoring.md"], re.MULTILINE
    )
    assert {name: (severity, duration.strip()) for name, severity, duration in rows} == expected
