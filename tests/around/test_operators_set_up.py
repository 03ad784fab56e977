# SPDX-License-Identifier: Apache-2.0

"""An operator's own logging.conf and mount point, made for the reference, do the same for Plimsoll."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.around.pair import ADMIN, THE_REFERENCE, Pair, Running, bare, side_by_side

SETTINGS = """
[DEFAULT]
log_config_append = DIRECTORY/logging.conf
"""
MOUNTED = f'import os\nos.environ["SCRIPT_NAME"] = "/placement"\n{THE_REFERENCE}'

# As the samples of OpenStack's projects have it: the root is quiet, what the project says is wanted.
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
OF_THE_LINE = {
    "name",
    "levelname",
    "msg",
    "message",
    "args",
    "context",
    "traceback",
    "error_summary",
}


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


def told(service: Running, request_id: str) -> dict[str, Any]:
    """The one JSON document about a request, without what is one service's own."""
    service.lines(request_id)
    about = [each for each in documents(service.directory) if each["context"].get("request_id") == request_id]
    (document,) = about
    document["context"]["request_id"] = document["context"]["user_identity"] and "ID"
    document["args"]["bytes"] = document["message"] = None
    document["args"]["microversion"] = str(document["args"]["microversion"]).strip("[]").replace(", ", ".")
    return document


def test_the_lines_are_where_the_operator_wants_those_of_placement(pair: Pair) -> None:
    theirs, ours = pair.ask("GET", "/placement/traits?name=startswith:HW", CALLER)
    lines = []
    for service, reply in ((pair.reference, theirs), (pair.plimsoll, ours)):
        request_id = reply.headers["x-openstack-request-id"]
        (line,) = service.lines(request_id)
        lines.append(bare(line, request_id))
    assert lines[1] == lines[0]
    assert '"GET /placement/traits?name=startswith:HW" status: 200' in lines[0]
    assert "INFO plimsoll.ledger.current" in pair.plimsoll.log_file.read_text(), (
        "our other loggers count as well"
    )


def test_json_has_the_same_fields(pair: Pair) -> None:
    theirs, ours = (
        reply.headers["x-openstack-request-id"]
        for reply in pair.ask("GET", "/placement/resource_providers", CALLER)
    )
    expected, document = told(pair.reference, theirs), told(pair.plimsoll, ours)
    assert document.keys() == expected.keys()
    for field in OF_THE_LINE:
        assert document[field] == expected[field], field
    assert document["args"]["status"] == "200"
    assert document["context"]["roles"] == ["admin", "service"]


def test_links_and_locations_have_the_mount_point(pair: Pair) -> None:
    headers = {**CALLER, "content-type": "application/json"}
    uuid = "7a5d5c3a-4b1e-4f57-9d1c-0d6b7f8e9a10"
    body = json.dumps({"name": "mounted", "uuid": uuid}).encode()
    theirs, ours = pair.ask("POST", "/placement/resource_providers", headers, body)
    assert json.loads(ours.body) == json.loads(theirs.body)
    there, here = pair.reference.port, pair.plimsoll.port
    assert ours.headers["location"] == theirs.headers["location"].replace(f":{there}/", f":{here}/")
    assert f"/placement/resource_providers/{uuid}" in ours.headers["location"]


def test_the_version_document_is_at_the_mount_point(pair: Pair) -> None:
    theirs, ours = pair.ask("GET", "/placement/", {})
    assert json.loads(ours.body) == json.loads(theirs.body)
