# SPDX-License-Identifier: Apache-2.0

"""The sample files are up to date with the options and the policy rules, and they can be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.config import loader
from tests.docs.samples import COMMANDS, SAMPLES, sample


@pytest.mark.parametrize("name", COMMANDS)
def test_a_sample_is_up_to_date(name: str) -> None:
    assert (SAMPLES / name).read_text() == sample(name), "run `make docs`"


def test_the_sample_of_settings_has_every_option_and_changes_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = SAMPLES / "placement.conf.sample"
    text = file.read_text()
    missing = [opt.name for _, opts in loader.list_opts() for opt in opts if f"\n#{opt.name} =" not in text]
    assert missing == []
    for section in ("keystone_authtoken", "oslo_policy", "cors", "oslo_middleware"):
        assert f"\n[{section}]\n" in text
    assert dict(loader.load([str(file)]).placement_database) == dict(loader.load().placement_database)
