# SPDX-License-Identifier: Apache-2.0

"""The case files and how one of them becomes a runnable suite.

Every file in the reference's wheel is taken as it is: nothing is edited, filtered by content or
skipped. A selection by words only chooses what to run.
"""

import unittest
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gabbi import handlers, suite, suitemaker, utils
from placement.tests import functional
from placement.tests.functional.fixtures import capture, gabbits

DIRECTORY = Path(functional.__file__).parent / "gabbits"


def files() -> list[Path]:
    """All case files, the longest first so that parallel runs end together."""
    return sorted(DIRECTORY.glob("*.yaml"), key=lambda path: (-path.stat().st_size, path.name))


def suite_of(path: Path, application: Callable[[], Any], words: Iterable[str]) -> unittest.TestSuite:
    """The cases of one file that match one of the words (all, when there are none)."""
    whole: unittest.TestSuite = suitemaker.test_suite_from_dict(
        unittest.TestLoader(),
        path.stem,
        utils.load_yaml(yaml_file=str(path)),
        str(DIRECTORY),
        str(uuid.uuid4()),  # the host name that the intercepted client believes to talk to
        8001,
        gabbits,
        application,
        test_loader_name=__name__,
        handlers=[handler() for handler in handlers.RESPONSE_HANDLERS],
        inner_fixtures=[capture.Logging],
    )
    wanted = [case for case in whole if matches(path, case, list(words))]
    chosen: unittest.TestSuite = suite.GabbiSuite()
    chosen.addTests(wanted)  # gabbi itself first runs the cases that a chosen one builds upon
    return chosen


def matches(path: Path, case: Any, words: list[str]) -> bool:
    return not words or any(word in f"{path.name}: {case.test_data['name']}" for word in words)
