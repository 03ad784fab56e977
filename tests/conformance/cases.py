# SPDX-License-Identifier: Apache-2.0

"""The case files, and the test suite of each.

Every file of the reference's wheel is used unmodified: no case is edited, filtered by content or skipped. Words on
the command line only select the cases to run.
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
    """Return all case files, the longest first, so that parallel processes end at about the same time."""
    return sorted(DIRECTORY.glob("*.yaml"), key=lambda path: (-path.stat().st_size, path.name))


def suite_of(path: Path, application: Callable[[], Any], words: Iterable[str]) -> unittest.TestSuite:
    """Return the cases of one file that match one of the words; all, if there are no words."""
    whole: unittest.TestSuite = suitemaker.test_suite_from_dict(
        unittest.TestLoader(),
        path.stem,
        utils.load_yaml(yaml_file=str(path)),
        str(DIRECTORY),
        str(uuid.uuid4()),  # the host name of the intercepted requests
        8001,
        gabbits,
        application,
        test_loader_name=__name__,
        handlers=[handler() for handler in handlers.RESPONSE_HANDLERS],
        inner_fixtures=[capture.Logging],
    )
    selected = [case for case in whole if matches(path, case, list(words))]
    selection: unittest.TestSuite = suite.GabbiSuite()
    selection.addTests(selected)  # gabbi itself first runs the cases that a selected one depends on
    return selection


def matches(path: Path, case: Any, words: list[str]) -> bool:
    return not words or any(word in f"{path.name}: {case.test_data['name']}" for word in words)
