# SPDX-License-Identifier: Apache-2.0

"""Sign-in under a real Keystone: a password, a wrong one, a reader's view, an expired token, sign-out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from plimsoll.cli.demo_service import UNTYPED_VERSION
from plimsoll.demo.cloud import plan_cloud
from plimsoll.demo.sender import http_sender
from plimsoll.demo.writing import write_cloud
from tests.browser.visit import Visit
from tests.cloud.keystone import PASSWORD, Keystone, User, missing
from tests.cloud.services import Plimsoll

UNAUTHORIZED = ("status of 401", "status of 403")
"""The browser itself logs such a line for each response."""


@pytest.fixture(scope="module")
def keystone() -> Iterator[Keystone]:
    reason = missing()
    if reason:
        pytest.skip(f"not run: Keystone, {reason}")
    with Keystone() as running:
        yield running


@pytest.fixture(scope="module")
def reader(keystone: Keystone) -> User:
    return keystone.user("rea", "engines", "reader")


@pytest.fixture(scope="module")
def service(keystone: Keystone, reader: User, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plimsoll]:
    # Without a token cache, so that a revoked token is refused at once.
    running = Plimsoll(tmp_path_factory.mktemp("signed"), keystone.authtoken(token_cache_time=-1))
    with running:
        token = keystone.token()
        write_cloud(http_sender(running.url, lambda: token, UNTYPED_VERSION), plan_cloud(20), lambda *_: None)
        yield running


@pytest.fixture
def visit(browser: Browser, service: Plimsoll) -> Iterator[Visit]:
    visit = Visit(browser, service.url)
    visit.allowed += UNAUTHORIZED
    yield visit
    visit.close()
    visit.check()


def fill_in(page: Page, user: str, password: str = PASSWORD, project: str = "engines") -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User", exact=True).fill(user)
    dialog.get_by_label("Password", exact=True).fill(password)
    dialog.get_by_label("Project", exact=True).fill(project)
    dialog.get_by_role("button", name="Sign in").click()


def test_a_reader_signs_in_and_sees_the_fleet(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/console/")
    fill_in(page, "rea")
    visit.wait()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("tr[data-class=VCPU]")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter(k => localStorage[k].includes('gAAAA'))") == []
    assert visit.context.cookies() == []
    assert all(PASSWORD not in each.url for each in visit.requests)


def test_a_wrong_password_is_refused_in_words_and_the_next_one_works(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/console/")
    fill_in(page, "rea", "wrong")
    expect(page.get_by_role("alert")).to_contain_text("refused")
    fill_in(page, "rea")
    visit.wait()


def test_the_form_has_no_serious_problem_of_accessibility(visit: Visit) -> None:
    visit.page.goto(f"{visit.origin}/console/")
    expect(visit.page.get_by_role("dialog")).to_be_visible()
    assert visit.problems() == []


def test_a_pasted_token_works_and_sign_out_drops_it(visit: Visit, keystone: Keystone, reader: User) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/console/")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Token").check()
    dialog.get_by_label(re.compile("token", re.IGNORECASE)).last.fill(keystone.token(reader))
    dialog.get_by_role("button", name="Sign in").click()
    visit.wait()
    page.get_by_role("button", name=re.compile("Sign out")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate("JSON.stringify(sessionStorage)").count("gAAAA") == 0


def test_an_expired_token_leads_to_another_sign_in_and_loses_nothing(
    visit: Visit, keystone: Keystone
) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/console/find?resources=VCPU:4,MEMORY_MB:8192")
    fill_in(page, "rea")
    expect(page.get_by_role("dialog")).to_have_count(0)
    visit.wait()
    address = page.url
    tokens = page.evaluate("Object.values(sessionStorage).join(' ').match(/gAAAA[\\w=-]+/g)")
    keystone.revoke(tokens[0])
    page.reload()
    expect(page.get_by_role("dialog")).to_be_visible()
    fill_in(page, "rea")
    expect(page.get_by_role("dialog")).to_have_count(0)
    visit.wait()
    visit.shows("find")
    assert page.url == address


def test_what_a_reader_may_not_see_is_explained(visit: Visit, keystone: Keystone) -> None:
    """A user without a role gets the words of the 403 where the data would be."""
    keystone.user("ben", "engines", "bystander")
    page = visit.page
    page.goto(f"{visit.origin}/console/")
    fill_in(page, "ben")
    visit.wait("error")
    expect(page.locator("main")).to_contain_text(re.compile("polic|allow", re.IGNORECASE))


def test_a_reader_is_told_that_consumers_of_other_projects_are_left_out(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/console/consumers")
    fill_in(page, "rea")
    visit.wait("empty")
    expect(page.locator("main")).to_contain_text("of your own project (engines) only")
    expect(page.locator("main code").first).to_have_text("plimsoll:projects:all")
