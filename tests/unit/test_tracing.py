# SPDX-License-Identifier: Apache-2.0

"""Tracing by osprofiler, if it is installed: a request that is signed with the key is traced."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.tracing import with_tracing
from tests.support.api import configuration
from tests.support.wsgi import environ

INSTALLED = importlib.util.find_spec("osprofiler") is not None
needs_osprofiler = pytest.mark.skipif(not INSTALLED, reason="not run: osprofiler is not installed")


def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("204 No Content", [])
    return ()


def test_unless_it_is_enabled_the_application_is_not_wrapped(tmp_path: Path) -> None:
    assert with_tracing(app, configuration(tmp_path / "unused.sqlite")) is app


@pytest.mark.skipif(INSTALLED, reason="not run: osprofiler is installed")
def test_a_section_for_osprofiler_is_ignored_without_it(tmp_path: Path) -> None:
    assert "profiler" not in configuration(tmp_path / "unused.sqlite")


@needs_osprofiler
def test_a_request_with_the_key_is_traced_and_one_without_is_not(tmp_path: Path) -> None:
    from osprofiler import _utils
    from osprofiler.drivers import base

    traces: list[dict[str, Any]] = []

    class Memory(base.Driver):  # type: ignore[misc]  # osprofiler finds drivers among the subclasses
        @classmethod
        def get_name(cls) -> str:
            return "memory"

        def notify(self, info: dict[str, Any], **_: Any) -> None:
            traces.append({**info, "project": self.project, "host": self.host})

    options = {
        "profiler__enabled": True,
        "profiler__hmac_keys": "key",
        "profiler__connection_string": "memory://",
    }
    application = with_tracing(app, configuration(tmp_path / "unused.sqlite", **options))
    statuses: list[str] = []
    for key in ("key", "another"):
        packed, signature = _utils.signed_pack({"base_id": "b", "parent_id": "p"}, key)
        headers = [("X-Trace-Info", packed.decode()), ("X-Trace-HMAC", signature)]
        request = environ("GET", "/traits?name=x", b"", headers)
        list(application(request, lambda status, *_: statuses.append(status)))  # type: ignore[arg-type]
    assert statuses == ["204 No Content"] * 2
    assert [trace["name"] for trace in traces] == ["wsgi-start", "wsgi-stop"]
    assert traces[0]["info"]["request"]["path"] == "/traits"
    assert (traces[0]["project"], traces[0]["host"]) == ("placement", socket.gethostname())
