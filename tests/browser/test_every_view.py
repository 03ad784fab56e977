# SPDX-License-Identifier: Apache-2.0

"""What holds for every view: heading and title, accessibility, names that stay text, links and the back button."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from plimsoll.demo.sender import Sender
from tests.browser.conftest import CLOUD
from tests.browser.visit import PHONE, Visit
from tests.support.running import Service

HOST = next(host.root for host in CLOUD.hosts if host.kind == "gpu")
QUERY = "resources=VCPU:4,MEMORY_MB:8192"
EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
EVIL_PROVIDER = "e71e71e7-0000-4000-8000-000000000001"
EVIL_CONSUMER = "e71e71e7-0000-4000-8000-000000000002"

VIEWS = {"fleet": ("", "Fleet"), "find": (f"find?{QUERY}", "Find a place")}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_a_title_one_heading_and_its_name(visit: Visit, view: str) -> None:
    path, title = VIEWS[view]
    page = visit.open(path)
    visit.shows(view)
    assert page.locator("h1").count() == 1
    expect(page).to_have_title(re.compile(f"{title}.* · Plimsoll"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_no_serious_problem_of_accessibility(
    browser: Browser, service: Service, view: str, dark: bool
) -> None:
    visit = Visit(browser, f"http://127.0.0.1:{service.port}", dark=dark)
    try:
        visit.open(VIEWS[view][0])
        assert visit.problems() == []
    finally:
        visit.close()
    visit.check()


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_horizontal_scrolling(browser: Browser, service: Service, view: str) -> None:
    visit = Visit(browser, f"http://127.0.0.1:{service.port}", viewport=PHONE)
    try:
        page = visit.open(VIEWS[view][0])
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"]
    finally:
        visit.close()
    visit.check()


@pytest.fixture(scope="module")
def evil_names(sender: Sender) -> None:
    """A provider and a consumer whose names are HTML, in every field that takes any text."""
    sender.require("POST", "/resource_providers", {"uuid": EVIL_PROVIDER, "name": EVIL})
    inventories = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 4}}}
    sender.require("PUT", f"/resource_providers/{EVIL_PROVIDER}/inventories", inventories)
    claim = {
        "allocations": {EVIL_PROVIDER: {"resources": {"VCPU": 4}}},
        "project_id": EVIL,
        "user_id": EVIL,
        "consumer_type": "INSTANCE",
        "consumer_generation": None,
    }
    sender.require("PUT", f"/allocations/{EVIL_CONSUMER}", claim)


EVIL_PATHS = {"fleet": "", "find": "find?resources=VCPU:4&in_tree=" + EVIL_PROVIDER}


@pytest.mark.usefixtures("evil_names")
@pytest.mark.parametrize("view", EVIL_PATHS)
def test_names_stay_text(visit: Visit, view: str) -> None:
    page = visit.open(EVIL_PATHS[view])
    page.wait_for_timeout(300)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0


@pytest.mark.usefixtures("evil_names")
def test_the_search_box_shows_such_a_name_as_text_and_finds_the_provider(visit: Visit) -> None:
    page = visit.open()
    page.keyboard.press("/")
    page.keyboard.type("onerror")
    hit = page.get_by_role("option").filter(has_text=EVIL).first
    expect(hit).to_be_visible()
    assert page.locator("[role=listbox] img").count() == 0


def test_the_search_box_completes_a_host_and_back_returns(visit: Visit) -> None:
    page = visit.open()
    page.keyboard.press("/")
    page.keyboard.type(HOST.name)
    page.keyboard.press("Enter")
    visit.shows("provider")
    expect(page).to_have_url(re.compile(HOST.uuid))
    page.go_back()
    visit.shows("fleet")
    page.go_forward()
    visit.shows("provider")


def test_a_copied_address_shows_the_same(visit: Visit, browser: Browser) -> None:
    page = visit.open(VIEWS["find"][0])
    address, text = page.url, page.locator("main h1").inner_text()
    other = Visit(browser, visit.origin)
    try:
        other.page.goto(address)
        other.wait()
        assert other.page.locator("main h1").inner_text() == text
        assert other.page.url == address
    finally:
        other.close()
    other.check()


def test_an_unknown_page_is_a_page(visit: Visit) -> None:
    visit.open("nothing-here", state="empty")
    visit.shows("missing")
