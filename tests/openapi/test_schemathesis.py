# SPDX-License-Identifier: Apache-2.0

"""schemathesis finds no fault: no 5xx, and every answer is as documented. `python -m tests.openapi` runs it for longer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.openapi import fuzzing
from tests.openapi.fuzzing import V1, GuardedService, fuzz, guarded_service, served_document

FEW = 2
"""Generated test cases per operation, beside those of the phases `examples` and `coverage`."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedService]:
    with guarded_service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.mark.parametrize("name", [V1, "1.39"])
def test_every_response_is_as_documented(service: GuardedService, tmp_path: Path, name: str) -> None:
    passed, output = fuzz(service, tmp_path, name, examples=FEW)
    assert passed, output
    assert "Traceback" not in service.log()


@pytest.mark.parametrize("name", ["1.28", "1.10", "1.0"])
def test_responses_of_older_versions_are_as_documented(
    service: GuardedService, tmp_path: Path, name: str
) -> None:
    passed, output = fuzz(service, tmp_path, name, examples=FEW, phases="examples,fuzzing")
    assert passed, output
    assert "Traceback" not in service.log()


def test_a_wrong_document_makes_schemathesis_fail(
    service: GuardedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong_document(*_: object) -> dict[str, Any]:
        document = served_document(service, "1.39")
        document["paths"] = {"/resource_classes": {"get": document["paths"]["/resource_classes"]["get"]}}
        document["components"]["schemas"]["resource_classes"]["required"] = ["no_such_member"]
        return document

    monkeypatch.setattr(fuzzing, "served_document", wrong_document)
    passed, output = fuzz(service, tmp_path, "1.39", examples=FEW, phases="examples,fuzzing")
    assert not passed
    assert "no_such_member" in output
