# SPDX-License-Identifier: Apache-2.0

"""An operator's logging.conf and mount point, made for the reference, have the same effect in Plimsoll."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.middleware.pair import (
    ADMIN,
    REFERENCE_APPLICATION,
    Pair,
    Running,
    side_by_side,
    without_own_values,
)

SETTINGS = """
[DEFAULT]
log_config_append = DIRECTORY/logging.conf
"""
MOUNTED = f'import os\nos.environ["SCRIPT_NAME"] = "/placement"\n{REFERENCE_APPLICATION}'

# As in the samples of OpenStack projects: the root logs warnings only, the project's logger also INFO.
LOGGING = """
[loggers]
keys = root, placement
[handlers]
keys = text, json, null
[formatters]
keys = context, json
[logger_root]
level = WARNING
handlers = null
[logger_placement]
level = INFO
handlers = text, json
qualname = placement
[handler_null]
class = logging.NullHandler
args = ()
[handler_text]
class = handlers.WatchedFileHandler
args = ('placement.log',)
formatter = context
[handler_json]
class = FileHandler
args = ('json.log',)
formatter = json
[formatter_context]
class = oslo_log.formatters.ContextFormatter
[formatter_json]
class = oslo_log.formatters.JSONFormatter
"""

CALLER = {**ADMIN, "x-user-domain-id": "default", "x-roles": "admin, service", "x-user-name": "Ada"}
COMPARED_FIELDS = {"name", "levelname", "msg", "message", "args", "context", "traceback", "error_summary"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    directory = tmp_path_factory.mktemp("operator")
    (directory / "plimsoll").mkdir()
    (directory / "reference").mkdir()
    for name in ("plimsoll", "reference"):
        (directory / name / "logging.conf").write_text(LOGGING)
    with side_by_side(directory, SETTINGS, MOUNTED, ["--prefix", "/placement"]) as pair:
        yield pair


def documents(directory: Path) -> list[dict[str, Any]]:
    lines = (directory / "json.log").read_text().splitlines()
    return [json.loads(line) for line in lines]


def comparable_document(service: Running, request_id: str) -> dict[str, Any]:
    """Return the JSON line of a request, without values that differ between services."""
    service.lines(request_id)
    about = [each for each in documents(service.directory) if each["context"].get("request_id") == request_id]
    (document,) = about
    document["context"]["request_id"] = document["context"]["user_identity"] and "ID"
    document["args"]["bytes"] = document["message"] = None
    document["args"]["microversion"] = str(document["args"]["microversion"]).strip("[]").replace(", ", ".")
    return document


def test_log_lines_go_to_the_handlers_of_the_placement_logger(pair: Pair) -> None:
    theirs, ours = pair.send("GET", "/placement/traits?name=startswith:HW", CALLER)
    lines = []
    for service, reply in ((pair.reference, theirs), (pair.plimsoll, ours)):
        request_id = reply.headers["x-openstack-request-id"]
        (line,) = service.lines(request_id)
        lines.append(without_own_values(line, request_id))
    assert lines[1] == lines[0]
    assert '"GET /placement/traits?name=startswith:HW" status: 200' in lines[0]
    assert "INFO plimsoll.ledger.current" in pair.plimsoll.log_file.read_text(), (
        "our other loggers use these handlers too"
    )


def test_json_has_the_same_fields(pair: Pair) -> None:
    theirs, ours = (
        reply.headers["x-openstack-request-id"]
        for reply in pair.send("GET", "/placement/resource_providers", CALLER)
    )
    expected, document = comparable_document(pair.reference, theirs), comparable_document(pair.plimsoll, ours)
    assert document.keys() == expected.keys()
    for field in COMPARED_FIELDS:
        assert document[field] == expected[field], field
    assert document["args"]["status"] == "200"
    assert document["context"]["roles"] == ["admin", "service"]


def test_links_and_locations_have_the_mount_point(pair: Pair) -> None:
    headers = {**CALLER, "content-type": "application/json"}
    uuid = "7a5d5c3a-4b1e-4f57-9d1c-0d6b7f8e9a10"
    body = json.dumps({"name": "mounted", "uuid": uuid}).encode()
    theirs, ours = pair.send("POST", "/placement/resource_providers", headers, body)
    assert json.loads(ours.body) == json.loads(theirs.body)
    there, here = pair.reference.port, pair.plimsoll.port
    assert ours.headers["location"] == theirs.headers["location"].replace(f":{there}/", f":{here}/")
    assert f"/placement/resource_providers/{uuid}" in ours.headers["location"]


def test_the_version_document_is_at_the_mount_point(pair: Pair) -> None:
    theirs, ours = pair.send("GET", "/placement/", {})
    assert json.loads(ours.body) == json.loads(theirs.body)
