# SPDX-License-Identifier: Apache-2.0

"""The query builder: completion, groups, the back button, copied searches, the hosts that a clause removes."""

from __future__ import annotations

import re
import shlex
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from plimsoll.demo.sender import Sender
from tests.browser.visit import Visit

PLAIN = "find?resources=VCPU:4,MEMORY_MB:8192"
GROUPS = f"{PLAIN}&resources_1=CUSTOM_PCI_10DE_2330:1&required=!COMPUTE_STATUS_DISABLED"


def copied(page: Page, name: str) -> str:
    page.get_by_role("button", name=re.compile(name)).first.click()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_a_query_is_built_with_completion(visit: Visit) -> None:
    page = visit.open("find", state="empty")
    page.get_by_role("combobox", name="Add a resource class").fill("vcp")
    expect(page.get_by_role("option").first).to_have_text("VCPU")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"resources=VCPU:1$"))
    page.get_by_role("textbox", name="Amount of VCPU").fill("4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"resources=VCPU:4$"))
    page.get_by_role("combobox", name="Add a trait").fill("avx2")
    option = page.get_by_role("option", name=re.compile("HW_CPU_X86_AVX2"))
    expect(option).to_contain_text(re.compile(r"\d+ hosts"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"required=HW_CPU_X86_AVX2"))
    page.get_by_role("combobox", name="Add an aggregate").fill("aaaaaaaa")
    page.get_by_role("option").first.click()
    expect(page).to_have_url(re.compile(r"member_of=aaaaaaaa-"))
    visit.wait()


def test_a_group_is_added_and_removed(visit: Visit) -> None:
    page = visit.open(PLAIN)
    page.get_by_role("button", name="Add a group").click()
    group = page.get_by_role("group", name="Group _1")
    group.get_by_role("combobox", name="Add a resource class").fill("10de")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("resources_1=CUSTOM_PCI_10DE_2330:1"))
    page.get_by_role("button", name="Remove group _1").click()
    expect(group).to_have_count(0)
    expect(page).to_have_url(re.compile(r"resources=VCPU:4,MEMORY_MB:8192$"))


def test_amounts_are_typed_with_units(visit: Visit) -> None:
    page = visit.open(PLAIN)
    page.get_by_role("textbox", name="Amount of MEMORY_MB").fill("16 GiB")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("MEMORY_MB:16384"))


def test_the_back_button_returns_to_the_query_before(visit: Visit) -> None:
    page = visit.open(PLAIN)
    page.get_by_role("button", name="Remove MEMORY_MB").click()
    expect(page).to_have_url(re.compile(r"resources=VCPU:4$"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"resources=VCPU:4,MEMORY_MB:8192$"))
    expect(page.get_by_role("textbox", name="Amount of MEMORY_MB")).to_have_value("8192")


def test_a_pasted_query_fills_the_form(visit: Visit) -> None:
    page = visit.open("find", state="empty")
    text = page.get_by_role("textbox", name=re.compile("query as text"))
    text.fill("http://somewhere/allocation_candidates?resources=VCPU:2&required=!CUSTOM_NVME")
    page.keyboard.press("Enter")
    visit.wait()
    expect(page.get_by_role("textbox", name="Amount of VCPU")).to_have_value("2")
    expect(page.get_by_role("button", name="not", exact=True)).to_be_visible()


def test_a_copied_placement_url_has_the_candidates_of_the_page(visit: Visit, sender: Sender) -> None:
    page = visit.open(GROUPS)
    found = sender.require("GET", copied(page, "Placement URL"))
    title = page.get_by_role("heading", name=re.compile("candidates?$"))
    expect(title).to_have_text(re.compile(rf"^{len(found['allocation_requests'])} candidate"))


def test_a_copied_command_names_each_part_of_the_query(visit: Visit) -> None:
    words = shlex.split(copied(visit.open(GROUPS), "openstack command"))
    assert words[0] == "openstack"
    resources = [words[place + 1] for place, word in enumerate(words) if word == "--resource"]
    assert resources == ["VCPU=4", "MEMORY_MB=8192", "CUSTOM_PCI_10DE_2330=1"]
    assert words[words.index("--group") + 1] == "_1"
    assert words[words.index("--forbidden") + 1] == "COMPUTE_STATUS_DISABLED"


def test_a_copied_curl_command_sends_the_query(visit: Visit) -> None:
    words = shlex.split(copied(visit.open(GROUPS), "curl"))
    address = urlsplit(words[-1])
    assert f"{address.scheme}://{address.netloc}" == visit.origin
    assert "resources_1=CUSTOM_PCI_10DE_2330:1" in address.query


def test_a_clause_opens_the_hosts_that_it_removes(visit: Visit, sender: Sender) -> None:
    page = visit.open(PLAIN)
    clause = page.locator(".funnel .clause-button:enabled").first
    clause.click()
    expect(clause).to_have_attribute("aria-expanded", "true")
    hosts = page.locator(".lost-hosts > li > a")
    expect(hosts.first).to_be_visible()
    why = sender.require(
        "GET", f"/plimsoll/v1/explain?{PLAIN.partition('?')[2]}&provider={hosts.first.inner_text()}"
    )
    assert why["provider"]["obstacles"]
    expect(page).to_have_url(re.compile(r"clause=\d+"))


def test_near_misses_are_a_matrix_of_hosts_and_clauses(visit: Visit, sender: Sender) -> None:
    page = visit.open(PLAIN)
    why = sender.require("GET", f"/plimsoll/v1/explain?{PLAIN.partition('?')[2]}&examples=24")
    first = why["examples"][0]
    row = page.locator(".matrix tbody tr").first
    expect(row.get_by_role("link")).to_have_text(first["name"])
    expect(row.locator("td.failed")).to_have_count(len(first["obstacles"]))


def test_the_tab_key_goes_from_one_completion_to_the_next(visit: Visit) -> None:
    page = visit.open("find", state="empty")
    page.get_by_role("combobox", name="Add a resource class").focus()
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Add a trait")).to_be_focused()
