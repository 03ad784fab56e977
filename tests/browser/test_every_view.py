# SPDX-License-Identifier: Apache-2.0

"""Checks of every view: heading and title, accessibility, names that stay text, links and the back button.

Each view is opened in light, dark and on a phone, and a picture of it is written to `var/pictures`, or to the directory
that PLIMSOLL_PICTURES names.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from plimsoll.demo.sender import Sender
from plimsoll.demo.workload import consumers_of
from tests.browser.conftest import CLOUD
from tests.browser.visit import PHONE, WIDE, Visit
from tests.support.running import Service

HOST = next(host.root for host in CLOUD.hosts if host.kind == "gpu")
CONSUMER = next(each[0] for each in consumers_of(CLOUD) if each)
QUERY = "resources=VCPU:4,MEMORY_MB:8192"
EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
EVIL_PROVIDER = "e71e71e7-0000-4000-8000-000000000001"
EVIL_CONSUMER = "e71e71e7-0000-4000-8000-000000000002"

VIEWS = {
    "fleet": ("", "Fleet"),
    "provider": (f"providers/{HOST.uuid}", HOST.name),
    "find": (f"find?{QUERY}", "Find a place"),
    "unplaced": ("unplaced", "Unplaced"),
    "consumers": ("consumers", "Consumers"),
    "consumer": (f"consumers/{CONSUMER.uuid}", "Consumer"),
    "projects": ("projects", "Projects"),
    "project": (f"projects/{CONSUMER.project}", "Project"),
    "history": ("history", "History"),
}
FORMS = {"light": (WIDE, False), "dark": (WIDE, True), "phone": (PHONE, False)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_titled_accessible_and_fits_the_screen(
    browser: Browser, service: Service, pictures: Path, view: str, form: str
) -> None:
    (path, title), (viewport, dark) = VIEWS[view], FORMS[form]
    visit = Visit(browser, f"http://127.0.0.1:{service.port}", viewport=viewport, dark=dark)
    try:
        page = visit.open(path)
        visit.shows(view)
        expect(page.locator("body")).to_have_attribute("data-live", "live")
        page.wait_for_timeout(300)
        page.screenshot(path=pictures / f"{view}-{form}.png")
        assert page.locator("h1").count() == 1
        expect(page).to_have_title(re.compile(f"{re.escape(title)}.* · Plimsoll"))
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert visit.problems() == []
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
    if view == "fleet":
        page.get_by_role("tab", name="Nearly full").click()
    expect(page.locator("main")).to_contain_text("onerror=")
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


def test_a_new_page_has_the_focus_at_its_heading(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("link", name="History").click()
    visit.shows("history")
    expect(page.locator("main h1")).to_be_focused()


def test_the_results_of_a_search_are_above_the_pages_on_a_phone(browser: Browser, service: Service) -> None:
    visit = Visit(browser, f"http://127.0.0.1:{service.port}", viewport=PHONE)
    try:
        page = visit.open()
        page.keyboard.press("/")
        page.keyboard.type(HOST.name)
        first = page.get_by_role("option").first
        expect(first).to_be_visible()
        box = first.bounding_box()
        assert box is not None
        point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        assert page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('[role=option]') !== null", point
        )
    finally:
        visit.close()
    visit.check()


def test_the_history_stays_where_it_is_while_it_is_pointed_at(visit: Visit, sender: Sender) -> None:
    page = visit.open("history")
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    page.locator(".change").nth(3).hover()
    first = page.locator(".change-text").first.inner_text()
    trait = "CUSTOM_HISTORY_IS_HELD"
    sender.require("PUT", f"/traits/{trait}")
    try:
        expect(page.locator("main")).to_contain_text("Held while you read: 1 newer change")
        assert page.locator(".change-text").first.inner_text() == first
        page.mouse.move(2, 2)
        expect(page.locator(".change-text").first).to_contain_text(trait)
    finally:
        sender.require("DELETE", f"/traits/{trait}")


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
