# SPDX-License-Identifier: Apache-2.0

"""The time slider: pages as of an earlier revision have the numbers of then."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from plimsoll.demo.sender import Sender
from tests.browser.test_every_view import HOST
from tests.browser.test_fleet import shown
from tests.browser.visit import Visit

CONSUMER = "c1a1a1a1-0000-4000-8000-000000000002"


@pytest.fixture
def claim(sender: Sender) -> Iterator[str]:
    """The newest change is a claim. Return its revision."""
    found = sender.require("GET", "/allocation_candidates?resources=VCPU:3&limit=1")
    body = {
        "allocations": found["allocation_requests"][0]["allocations"],
        "project_id": "browser",
        "user_id": "ada",
        "consumer_type": "INSTANCE",
        "consumer_generation": None,
    }
    sender.require("PUT", f"/allocations/{CONSUMER}", body)
    revision: str = sender.require("GET", "/plimsoll/v1/usage")["revision"]
    yield revision
    sender.require("DELETE", f"/allocations/{CONSUMER}")


def test_the_slider_shows_the_fleet_before_the_last_change(visit: Visit, claim: str) -> None:
    page = visit.open()
    now = shown(visit, "VCPU", "used")
    page.get_by_role("button", name="Show a moment in the past").click()
    slider = page.get_by_role("slider", name="Revision")
    expect(slider).to_have_value(claim.split(":")[1])
    slider.focus()
    page.keyboard.press("ArrowLeft")
    used = page.locator('tr[data-class="VCPU"] [data-figure="used"] [data-raw]').first
    expect(used).to_have_attribute("data-raw", str(now - 3))
    expect(page).to_have_url(re.compile(r"at=[0-9a-f]{8}%3A\d+"))
    expect(page.locator("body")).to_have_attribute("data-live", "past")
    page.get_by_role("button", name="Back to now").click()
    expect(used).to_have_attribute("data-raw", str(now))
    expect(page.locator("body")).to_have_attribute("data-live", "live")
    assert "at=" not in page.url


def test_a_step_back_shows_the_change_between(visit: Visit, claim: str) -> None:
    page = visit.open(f"?at={claim}")
    expect(page.locator(".moment-text")).to_contain_text("Claimed")
    now = shown(visit, "VCPU", "used")
    page.get_by_role("button", name="One change back").click()
    used = page.locator('tr[data-class="VCPU"] [data-figure="used"] [data-raw]').first
    expect(used).to_have_attribute("data-raw", str(now - 3))
    page.go_back()
    expect(used).to_have_attribute("data-raw", str(now))


def test_links_keep_the_moment(visit: Visit, sender: Sender, claim: str) -> None:
    epoch, _, number = claim.partition(":")
    then = f"{epoch}:{int(number) - 1}"
    page = visit.open(f"?at={then}")
    page.keyboard.press("/")
    page.keyboard.type(HOST.name)
    page.keyboard.press("Enter")
    visit.shows("provider")
    assert f"at={epoch}%3A" in page.url
    provider = sender.require("GET", f"/plimsoll/v1/providers/{HOST.uuid}?at={then}")
    for name, inventory in provider["inventories"].items():
        cell = page.locator(f'.inventory[data-class="{name}"] [data-figure="allocated"] [data-raw]')
        assert visit.raw(cell) == inventory["used"]


def test_a_change_of_the_history_has_before_and_after_and_leads_to_its_moment(
    visit: Visit, claim: str
) -> None:
    page = visit.open(f"history?consumer={CONSUMER}")
    row = page.locator(".changes > li").first
    row.get_by_role("button").first.click()
    expect(row.get_by_role("columnheader", name="before").first).to_be_visible()
    expect(row.get_by_role("row").filter(has_text="VCPU").locator(".after")).to_have_text("3 cores")
    row.get_by_role("link", name="before it").click()
    visit.wait()
    expect(page.locator("body")).to_have_attribute("data-live", "past")


def test_a_moment_beyond_the_log_says_so(visit: Visit) -> None:
    visit.allowed.append("status of 410")
    page = visit.open("?at=2001-01-01T00:00:00Z", state="error")
    expect(page.get_by_role("alert")).to_contain_text("does not reach back")
    page.get_by_role("button", name="Back to now").click()
    visit.wait()
