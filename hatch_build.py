# SPDX-License-Identifier: Apache-2.0

"""Build the web console before the files of a wheel or of a source distribution are collected.

If it cannot be built, the distribution has no console and a warning is printed; with PLIMSOLL_REQUIRE_CONSOLE=1, as for
a release, the build fails. An editable installation uses the build of `make console`.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REQUIRED = "PLIMSOLL_REQUIRE_CONSOLE"


class ConsoleBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        script = Path(self.root) / "console" / "build.py"
        if version == "editable" or not script.is_file():
            return
        specification = importlib.util.spec_from_file_location("plimsoll_console_build", script)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        try:
            module.build()
        except Exception as error:
            if os.environ.get(REQUIRED):
                raise
            self.app.display_warning(f"The web console is NOT in this distribution: {error}")
