# SPDX-License-Identifier: Apache-2.0

"""The fleet: its numbers are those of the API, its map has every host, and a claim made elsewhere appears."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from plimsoll.demo.sender import Sender
from tests.browser.visit import Visit


def usage(sender: Sender) -> dict[str, dict[str, Any]]:
    resources: dict[str, dict[str, Any]] = sender.require("GET", "/plimsoll/v1/usage")["groups"][0][
        "resources"
    ]
    return resources


def shown(visit: Visit, name: str, figure: str, place: int = 0) -> int:
    cell = visit.page.locator(f'tr[data-class="{name}"] [data-figure="{figure}"] [data-raw]').nth(place)
    return visit.raw(cell)


def test_the_numbers_equal_those_of_the_api(visit: Visit, sender: Sender) -> None:
    page = visit.open()
    page.get_by_role("button", name=re.compile("Show all")).click()
    expected = usage(sender)
    rows = page.locator("tr[data-class]")
    assert rows.count() == len(expected)
    for name, figures in expected.items():
        assert shown(visit, name, "used") == figures["used"], name
        assert shown(visit, name, "used", 1) == figures["capacity"], name
        assert shown(visit, name, "free") == figures["free"], name
        if figures["largest"]:
            assert shown(visit, name, "largest") == figures["largest"], name
        if figures["reserved"]:
            assert shown(visit, name, "reserved") == figures["reserved"], name


def test_the_map_has_every_root_provider(visit: Visit, sender: Sender) -> None:
    page = visit.open()
    providers = sender.require("GET", "/plimsoll/v1/providers?fields=parent")["providers"]
    roots = sum(1 for each in providers if each["parent"] is None)
    maps = page.locator("canvas[data-testid=heatmap][data-tile='0']")
    expect(maps.first).to_be_visible()
    hosts = [int(maps.nth(place).get_attribute("data-hosts") or 0) for place in range(maps.count())]
    assert sum(hosts) == roots


def test_a_claim_made_elsewhere_appears_without_a_reload(visit: Visit, sender: Sender) -> None:
    visit.open()
    page = visit.page
    before = shown(visit, "VCPU", "used")
    found = sender.require("GET", "/allocation_candidates?resources=VCPU:2,MEMORY_MB:2048&limit=1")
    allocations = found["allocation_requests"][0]["allocations"]
    consumer = "c1a1a1a1-0000-4000-8000-000000000001"
    body = {
        "allocations": allocations,
        "project_id": "browser",
        "user_id": "ada",
        "consumer_type": "INSTANCE",
        "consumer_generation": None,
    }
    loads = len([each for each in visit.requests if each.is_navigation_request()])
    sender.require("PUT", f"/allocations/{consumer}", body)
    try:
        used = page.locator('tr[data-class="VCPU"] [data-figure="used"] [data-raw]').first
        expect(used).to_have_attribute("data-raw", str(before + 2))
    finally:
        sender.require("DELETE", f"/allocations/{consumer}")
    expect(used).to_have_attribute("data-raw", str(before))
    assert len([each for each in visit.requests if each.is_navigation_request()]) == loads


def test_the_first_load_is_small(visit: Visit) -> None:
    """Scripts, styles, fonts and the page, as they are sent: compressed."""
    visit.open()
    total = 0
    # A response of the change feed does not end: only those of the console's own files are read.
    for request in [each for each in visit.requests if "/console/" in each.url]:
        response = request.response()
        if response is not None:
            total += int(response.header_value("content-length") or 0)
    assert 10_000 < total < 150_000


def test_the_heat_map_is_used_with_the_keyboard(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("application").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    visit.shows("provider")


def test_groups_by_aggregate_have_the_totals_of_the_api(visit: Visit, sender: Sender) -> None:
    page = visit.open("?group=aggregate")
    providers = sender.require("GET", "/plimsoll/v1/providers")["providers"]
    roots: dict[str, set[str]] = {}
    for each in providers:
        for aggregate in each["aggregates"]:
            roots.setdefault(aggregate, set()).add(each["root"])
    vcpus: dict[str, int] = {}
    for each in providers:
        if "VCPU" in each["inventories"]:
            capacity = each["inventories"]["VCPU"]["capacity"]
            vcpus[each["root"]] = vcpus.get(each["root"], 0) + capacity
    totals = sorted(sum(vcpus.get(root, 0) for root in trees) for trees in roots.values())
    groups = page.locator(".map-group").filter(has=page.locator("h3[title]"))
    expect(groups).to_have_count(len(roots))
    assert sorted(visit.raw(each) for each in groups.locator(".group-figures [data-raw]").all()) == totals


def test_the_fit_of_a_shape_is_that_of_the_api(visit: Visit, sender: Sender) -> None:
    page = visit.open("?colour=fit&shape=VCPU:4,MEMORY_MB:16384")
    fit = sender.require("GET", "/plimsoll/v1/fit?resources=VCPU:4,MEMORY_MB:16384")
    expect(page.locator(".shape-result [data-raw]")).to_have_attribute(
        "data-raw", str(fit["now"]["instances"])
    )


def test_without_the_service_the_page_says_so_and_recovers(visit: Visit) -> None:
    visit.allowed.append("ERR_INTERNET_DISCONNECTED")
    page = visit.open()
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    visit.context.set_offline(True)
    expect(page.locator("body")).to_have_attribute("data-live", "offline")
    expect(page.locator("tr[data-class=VCPU]")).to_be_visible()
    expect(page.locator(".stale")).to_contain_text("What is shown is from")
    visit.context.set_offline(False)
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    expect(page.locator(".stale")).to_have_count(0)


def test_what_was_read_stays_on_the_page_while_the_service_does_not_respond(visit: Visit) -> None:
    visit.allowed.append("ERR_INTERNET_DISCONNECTED")
    page = visit.open("consumers")
    rows = page.locator("tbody tr")
    expect(rows.first).to_be_visible()
    before = rows.count()
    visit.context.set_offline(True)
    expect(page.locator("body")).to_have_attribute("data-live", "offline")
    page.wait_for_timeout(500)
    assert rows.count() == before
    visit.context.set_offline(False)


def test_a_paused_page_says_from_when_it_is_and_follows_again(visit: Visit) -> None:
    page = visit.open()
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    page.get_by_role("button", name="Live").click()
    expect(page.locator(".stale")).to_contain_text("Paused")
    page.get_by_role("button", name="Follow again").click()
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    expect(page.locator(".stale")).to_have_count(0)
