# SPDX-License-Identifier: Apache-2.0

"""Pictures of every view: light, dark, phone. They are written to `var/pictures`, or where PLIMSOLL_PICTURES names."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_every_view import VIEWS
from tests.browser.visit import PHONE, WIDE, Visit
from tests.support.running import Service

FORMS = {"light": (WIDE, False), "dark": (WIDE, True), "phone": (PHONE, False)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_of_a_view(
    browser: Browser, service: Service, pictures: Path, view: str, form: str
) -> None:
    viewport, dark = FORMS[form]
    visit = Visit(browser, f"http://127.0.0.1:{service.port}", viewport=viewport, dark=dark)
    try:
        page = visit.open(VIEWS[view][0])
        page.wait_for_timeout(300)
        file = pictures / f"{view}-{form}.png"
        page.screenshot(path=file)
        assert file.stat().st_size > 5_000
    finally:
        visit.close()
    visit.check()
