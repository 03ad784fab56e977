# SPDX-License-Identifier: Apache-2.0

"""Pictures of every view of a running service, to be looked at: light and dark, three widths.

python -m tests.browser.pictures --url http://127.0.0.1:8778 --out var/pictures/500 [--views fleet find]
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

from tests.browser import chromium
from tests.browser.visit import Visit

WIDTHS = {390: 844, 1440: 900, 2560: 1440}
LARGEST = 4000
"""Pixels of height; the rest of a longer page is left out."""

CUT = """() => [...document.querySelectorAll('main *, header *')].filter(e => {
  const s = getComputedStyle(e);
  const cut = e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1;
  return cut && s.textOverflow === 'ellipsis' && e.closest('[title]') === null && e.tagName !== 'INPUT';
}).slice(0, 5).map(e => e.className + ': ' + e.textContent.slice(0, 60))"""


class Service:
    """A running service, with the addresses of its views."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def get(self, path: str) -> Any:
        request = urllib.request.Request(f"{self.url}/{path}", headers={"x-auth-token": "admin"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def views(self) -> dict[str, str]:
        providers = self.get("plimsoll/v1/providers?fields=uuid,name,root,parent,inventories,traits")[
            "providers"
        ]
        roots = [each for each in providers if each["parent"] is None]
        trees: dict[str, int] = {}
        for each in providers:
            trees[each["root"]] = trees.get(each["root"], 0) + 1
        tree = max(trees, key=lambda uuid: trees[uuid])
        single = next(each for each in roots if each["name"].startswith("cmp") and each["inventories"])
        over = next(
            (e["uuid"] for e in roots if any(i["used"] > i["capacity"] for i in e["inventories"].values())),
            None,
        )
        pool = next((e["uuid"] for e in roots if "MISC_SHARES_VIA_AGGREGATE" in e["traits"]), None)
        consumer = self.get("plimsoll/v1/consumers?limit=1")["consumers"][0]
        unplaced = self.get("plimsoll/v1/unplaced")["unplaced"]
        nova = next(
            (r["global_request_id"] for e in unplaced for r in e["requests"] if r["global_request_id"]), None
        )
        head = self.get("plimsoll/v1/providers?fields=uuid&limit=1")["revision"]
        epoch, _, number = head.partition(":")
        then = f"{epoch}:{int(number) * 2 // 3}"
        found = {
            "fleet": "",
            "fleet-aggregate": "?group=aggregate",
            "fleet-trait": "?group=trait",
            "fleet-fit": "?colour=fit&order=load",
            "fleet-names": "?cells=names",
            "fleet-then": f"?at={then}",
            "provider": f"providers/{single['uuid']}",
            "provider-tree": f"providers/{tree}",
            "provider-over": over and f"providers/{over}",
            "provider-pool": pool and f"providers/{pool}",
            "provider-missing": "providers/00000000-0000-4000-8000-000000000000",
            "find-empty": "find",
            "find": "find?resources=VCPU:4,MEMORY_MB:8192",
            "find-groups": "find?resources=MEMORY_MB:8192,DISK_GB:40&resources_GPU=PGPU:2&group_policy=none&required=HW_CPU_X86_AVX2",
            "find-never": "find?resources=VCPU:4,MEMORY_MB:8192&required=HW_ARCH_AARCH64",
            "find-not-now": "find?resources=VCPU:400,MEMORY_MB:400000",
            "find-wrong": "find?resources=NOPE:1",
            "unplaced": "unplaced",
            "unplaced-one": nova and f"unplaced?request_id={nova}",
            "unplaced-none": "unplaced?request_id=req-00000000-0000-4000-8000-000000000000",
            "consumers": "consumers",
            "consumers-none": "consumers?project=nobody",
            "consumer": f"consumers/{consumer['uuid']}",
            "consumer-missing": "consumers/00000000-0000-4000-8000-000000000000",
            "projects": "projects",
            "project": f"projects/{consumer['project']}",
            "history": "history",
            "history-none": "history?request_id=req-00000000-0000-4000-8000-000000000000",
            "missing": "nothing-here",
        }
        return {name: path for name, path in found.items() if path is not None}


def take(page: Page, origin: str, path: str, file: Path) -> list[str]:
    """Write the picture of one view. Return what is wrong with it at first sight."""
    page.goto(f"{origin}/console/{path}")
    try:
        page.wait_for_selector("main:not([data-state=loading])", timeout=30_000)
    except Error:
        return [f"{file.stem}: still loading after 30 s"]
    found = []
    try:
        page.wait_for_selector("main .skeleton", state="detached", timeout=15_000)
    except Error:
        found.append(f"{file.stem}: a part is still loading after 15 s")
    page.wait_for_timeout(400)
    found += [f"{file.stem}: cut without a title: {each}" for each in page.evaluate(CUT)]
    width, height = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    viewport = page.viewport_size or {"width": 0, "height": 0}
    if width > viewport["width"]:
        found.append(f"{file.stem}: {width} pixels wide")
    # Parts far below the window are not drawn: the window is made as tall as the page.
    page.set_viewport_size(
        {"width": viewport["width"], "height": min(LARGEST, max(height, viewport["height"]))}
    )
    page.wait_for_timeout(1500)
    page.screenshot(path=file)
    page.set_viewport_size({"width": viewport["width"], "height": viewport["height"]})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--url", default="http://127.0.0.1:8778")
    parser.add_argument("--out", type=Path, default=Path("var/pictures/grid"))
    parser.add_argument("--views", nargs="*", default=[])
    parser.add_argument("--widths", nargs="*", type=int, default=list(WIDTHS))
    parser.add_argument("--themes", nargs="*", default=["light", "dark"])
    options = parser.parse_args()
    service = Service(options.url)
    views = service.views()
    options.out.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        for theme in options.themes:
            for width in options.widths:
                visit = Visit(
                    browser,
                    service.url,
                    viewport={"width": width, "height": WIDTHS.get(width, 900)},
                    dark=theme == "dark",
                )
                for name, path in views.items():
                    if not options.views or name in options.views:
                        problems += take(
                            visit.page, service.url, path, options.out / f"{name}-{width}-{theme}.png"
                        )
                problems += [f"{width} {theme}: {line}" for line in visit.logged if "status of 4" not in line]
                visit.close()
        browser.close()
    print("\n".join(problems) or "nothing is cut off, too wide or logged")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
