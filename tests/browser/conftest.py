# SPDX-License-Identifier: Apache-2.0

"""A real browser, and a real service with a made-up cloud. Without Chromium or without the console, tests are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from plimsoll.api.console.files import INDEX, STATIC
from plimsoll.cli.demo_service import UNTYPED_VERSION
from plimsoll.demo.cloud import plan_cloud
from plimsoll.demo.sender import Sender, http_sender
from plimsoll.demo.writing import write_cloud
from tests.browser import chromium
from tests.browser.visit import Visit
from tests.support.running import Service

CLOUD = plan_cloud(int(os.environ.get("PLIMSOLL_BROWSER_HOSTS", "60")))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.executable()
    if path is None:
        pytest.skip("not run: Chromium is missing, `apt-get install chromium` installs it")
    if not (STATIC / INDEX).is_file():
        pytest.skip("not run: the console is not built, `make console` builds it")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.arguments())
        yield running
        running.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the made-up cloud and with names that try to become HTML."""
    with Service(tmp_path_factory.mktemp("service")) as running:
        sender = http_sender(f"http://127.0.0.1:{running.port}", lambda: "admin", UNTYPED_VERSION)
        write_cloud(sender, CLOUD, lambda *_: None)
        yield running


@pytest.fixture(scope="session")
def sender(service: Service) -> Sender:
    return http_sender(f"http://127.0.0.1:{service.port}", lambda: "admin", UNTYPED_VERSION)


@pytest.fixture
def visit(browser: Browser, service: Service) -> Iterator[Visit]:
    """A page in a context of its own. At the end: nothing was logged, and no request left the origin."""
    visit = Visit(browser, f"http://127.0.0.1:{service.port}")
    yield visit
    visit.close()
    visit.check()


@pytest.fixture(scope="session")
def pictures() -> Path:
    directory = Path(os.environ.get("PLIMSOLL_PICTURES", "var/pictures")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    return directory
