# SPDX-License-Identifier: Apache-2.0

"""The paths that docs/differences.md lists as additions of Plimsoll are served."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.api import Api

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def test_every_path_that_only_plimsoll_has_is_served(client: Api) -> None:
    (listed,) = re.findall(
        r"^- What only Plimsoll has: (.*?)\n(?=- |\n)", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    paths = [path.replace("...", "red") for path in re.findall(r"`(?:GET )?(/[^`]*)`", listed)]
    assert "/healthz" in paths
    assert {path: client.get(path).status for path in paths} == dict.fromkeys(paths, 200)
