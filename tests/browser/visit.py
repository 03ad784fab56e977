# SPDX-License-Identifier: Apache-2.0

"""One visit of the console: a browser context whose requests, log and errors are recorded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request, expect

AXE = Path(__file__).parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
TIMEOUT_MS = 30_000
SERIOUS = ("serious", "critical")

expect.set_options(timeout=TIMEOUT_MS)


class Visit:
    def __init__(
        self, browser: Browser, origin: str, *, viewport: dict[str, int] | None = None, dark: bool = False
    ) -> None:
        self.origin = origin
        self.context = browser.new_context(
            viewport=viewport or WIDE,  # type: ignore[arg-type]  # a TypedDict of two integers
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self.context.new_page()
        self.requests: list[Request] = []
        self.logged: list[str] = []
        self.allowed: list[str] = []
        """Parts of log lines that a test expects, such as the browser's own line of a 403."""
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.on("console", self._note)
        self.page.on("pageerror", self._fail)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.logged.append(f"{message.type}: {message.text}")

    def _fail(self, error: Error) -> None:
        self.logged.append(f"exception: {error}")

    def open(self, path: str = "", *, state: str = "ready") -> Page:
        """Open a path below /console/ and wait until its view has this state."""
        self.page.goto(f"{self.origin}/console/{path}")
        self.wait(state)
        return self.page

    def wait(self, state: str = "ready") -> None:
        expect(self.page.locator("main")).to_have_attribute("data-state", state)

    def shows(self, view: str) -> None:
        expect(self.page.locator("main")).to_have_attribute("data-view", view)

    def wait_for(self, condition: Callable[[], Any]) -> None:
        """Wait until the condition is true, while events of the browser are processed."""
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while not condition():
            assert time.monotonic() < deadline, "the condition did not become true"
            self.page.wait_for_timeout(50)

    def problems(self) -> list[str]:
        """Return the serious findings of axe-core on the present page. It runs outside of the page's policy."""
        found = self.page.evaluate(
            f"async () => {{ {AXE.read_text()}; const r = await axe.run(document, {json.dumps(AXE_OPTIONS)});"
            " return r.violations.map(v => [v.impact, v.id, v.nodes.slice(0, 4).map(n => n.html.slice(0, 160))]); }"
        )
        return [f"{impact}: {rule}: {nodes}" for impact, rule, nodes in found if impact in SERIOUS]

    def raw(self, locator: Locator) -> int:
        return int(locator.get_attribute("data-raw") or "nothing")

    def close(self) -> None:
        self.context.close()

    def check(self) -> None:
        """Assert what holds for every visit."""
        elsewhere = [
            each.url for each in self.requests if not each.url.startswith((self.origin, "data:", "blob:"))
        ]
        assert elsewhere == [], elsewhere
        unexpected = [line for line in self.logged if not any(part in line for part in self.allowed)]
        assert unexpected == [], unexpected


AXE_OPTIONS = {"resultTypes": ["violations"]}
