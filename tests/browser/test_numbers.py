# SPDX-License-Identifier: Apache-2.0

"""The numbers of provider, consumer, projects, find, unplaced and history are those of the API; links lead on."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from plimsoll.demo.sender import Sender
from tests.browser.test_every_view import CONSUMER, HOST, QUERY, VIEWS
from tests.browser.visit import Visit

FIGURES = {
    "allocated": "used",
    "capacity": "capacity",
    "free": "free",
    "largest piece": "largest",
    "total": "total",
}


def test_the_inventories_of_a_provider(visit: Visit, sender: Sender) -> None:
    page = visit.open(VIEWS["provider"][0])
    provider: dict[str, Any] = sender.require("GET", f"/plimsoll/v1/providers/{HOST.uuid}")
    assert page.locator(".inventory").count() == len(provider["inventories"])
    for name, inventory in provider["inventories"].items():
        for label, member in FIGURES.items():
            cell = page.locator(f'.inventory[data-class="{name}"] [data-figure="{label}"] [data-raw]')
            assert visit.raw(cell) == inventory[member], (name, label)


def test_a_child_in_the_tree_leads_to_its_page(visit: Visit) -> None:
    page = visit.open(VIEWS["provider"][0])
    page.get_by_role("link", name=re.compile(re.escape("0000:1b:00.0"))).first.click()
    expect(page).to_have_title(re.compile("0000:1b:00.0"))
    page.go_back()
    expect(page).to_have_title(re.compile(f"^{re.escape(HOST.name)} "))


def test_what_a_consumer_holds(visit: Visit) -> None:
    page = visit.open(VIEWS["consumer"][0])
    shown = sorted(
        (row.get_attribute("data-class"), visit.raw(row.locator("[data-raw]").first))
        for row in page.locator("main tr[data-class]").all()
    )
    held = sorted((name, amount) for each in CONSUMER.allocations.values() for name, amount in each.items())
    assert shown == held


def test_the_usage_of_projects(visit: Visit, sender: Sender) -> None:
    page = visit.open(VIEWS["projects"][0])
    groups = sender.require("GET", "/plimsoll/v1/usage?group_by=project")["groups"]
    largest = max(groups, key=lambda each: each["consumers"])
    row = page.locator(f'tr[data-group="{largest["group"]}"]')
    assert visit.raw(row.locator("[data-raw]").first) == largest["consumers"]
    used = row.locator('td[data-class="VCPU"] [data-raw]')
    assert visit.raw(used) == largest["resources"]["VCPU"]["used"]
    row.get_by_role("link").first.click()
    visit.shows("project")


def test_the_hosts_of_a_search(visit: Visit, sender: Sender) -> None:
    page = visit.open(VIEWS["find"][0])
    why = sender.require("GET", f"/plimsoll/v1/explain?{QUERY}")
    answer = page.locator("section.answer")
    expect(answer).to_have_attribute("data-verdict", why["verdict"])
    assert visit.raw(answer.locator("[data-raw]").first) == why["hosts_with_candidates"]


def test_a_search_that_finds_nothing_has_suggestions_that_find_something(visit: Visit) -> None:
    page = visit.open("find?resources=VCPU:4,MEMORY_MB:8192&required=HW_ARCH_AARCH64")
    answer = page.locator("section.answer")
    expect(answer).to_have_attribute("data-verdict", "never")
    page.get_by_role("button", name=re.compile("^without HW_ARCH_AARCH64")).click()
    expect(answer).to_have_attribute("data-verdict", "found")
    assert "HW_ARCH" not in page.url
    page.go_back()
    expect(answer).to_have_attribute("data-verdict", "never")


def test_a_search_is_copied_as_a_command(visit: Visit) -> None:
    page = visit.open(VIEWS["find"][0])
    page.get_by_role("button", name=re.compile("curl")).first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl ")
    assert visit.origin in copied
    assert "resources=VCPU" in copied


def test_unplaced_searches_are_found_by_their_request_id(visit: Visit, sender: Sender) -> None:
    entries = sender.require("GET", "/plimsoll/v1/unplaced")["unplaced"]
    # Searches of the console itself have no request id of a client.
    entry = next(each for each in entries if each["requests"][0]["global_request_id"])
    page = visit.open("unplaced")
    expect(page.locator("main .entry").first).to_be_visible()
    page.get_by_role("textbox", name="Nova's request id").fill(entry["requests"][0]["global_request_id"])
    page.get_by_role("button", name="Why?").click()
    expect(page.locator("main .entry")).to_have_count(1)
    expect(page.locator("main")).to_contain_text(entry["summary"])


def test_the_history_has_the_last_change_and_follows(visit: Visit, sender: Sender) -> None:
    page = visit.open("history")
    expect(page.locator(".changes > li").first).to_be_visible()
    sender.require("PUT", "/traits/CUSTOM_MADE_BY_A_TEST")
    expect(page.locator(".changes > li").first).to_contain_text("CUSTOM_MADE_BY_A_TEST")
