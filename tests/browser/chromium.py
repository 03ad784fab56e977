# SPDX-License-Identifier: Apache-2.0

"""The browser of the tests: a Chromium of this machine. As a command, install it if possible.

python -m tests.browser.chromium
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def executable() -> str | None:
    """Return the path of the browser, or None."""
    return os.environ.get("PLIMSOLL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def arguments() -> list[str]:
    """Return the options of the browser: as root, and in containers, it cannot use its sandbox."""
    return ["--no-sandbox", "--disable-dev-shm-usage"] if os.geteuid() == 0 else []


def install() -> str | None:
    """Install Debian's Chromium if there is none and this process may. Return the path of the browser."""
    if executable() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", "-qq", *command], check=False, timeout=600)
    return executable()


if __name__ == "__main__":
    if install() is None:
        print(
            "SKIPPED: the tests of the console need Chromium (apt-get install chromium). Nothing was tested."
        )
        sys.exit(3)
