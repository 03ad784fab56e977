# SPDX-License-Identifier: Apache-2.0

"""Time to the first usable view of a running service, and frames per second on the heat map.

python -m tests.browser.speed --url http://127.0.0.1:8778 [--rounds 7]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import chromium
from tests.browser.visit import WIDE

READY = """
window.__at = {};
const note = (name) => { window.__at[name] ??= performance.now(); };
new MutationObserver(() => {
  const main = document.querySelector("main");
  if (main === null) return;
  note("rendered");
  if (main.dataset.state !== "ready") return;
  note("ready");
  // Usable: the map is on the screen, which is after the next frame.
  if (document.querySelector("canvas") !== null) requestAnimationFrame(() => setTimeout(() => note("usable")));
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
TIMES = """() => {
  const providers = performance.getEntriesByType("resource").find(e => e.name.includes("/v1/providers"));
  const round = Math.round;
  return { ...window.__at, asked: providers.startTime, first_byte: providers.responseStart,
    last_byte: providers.responseEnd, bytes: providers.encodedBodySize, decoded: providers.decodedBodySize };
}"""
FRAMES = """async (work) => {
  const steps = { scroll: i => window.scrollTo(0, (i * 24) % 1400), still: () => {} };
  const times = [];
  await new Promise(done => {
    let frame = 0;
    const next = (now) => {
      times.push(now);
      steps[work](frame);
      frame += 1;
      if (frame < 180) requestAnimationFrame(next); else done();
    };
    requestAnimationFrame(next);
  });
  const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
  return [1000 * gaps.length / (times.at(-1) - times[0]), gaps.at(-1)];
}"""


def first_view(browser: Browser, url: str) -> dict[str, float]:
    """Return milliseconds since the navigation in a browser context without a cache."""
    context = browser.new_context(viewport=WIDE)  # type: ignore[arg-type]  # a TypedDict of two integers
    context.add_init_script(READY)
    page = context.new_page()
    page.goto(f"{url}/console/")
    page.wait_for_selector("canvas", timeout=60_000)
    page.wait_for_timeout(1000)
    times: dict[str, float] = page.evaluate(TIMES)
    context.close()
    return times


def frames(page: Page, work: str) -> tuple[float, float]:
    rate, longest = page.evaluate(FRAMES, work)
    return rate, longest


def hover(page: Page) -> Any:
    """Move the mouse over the map while frames are counted."""
    box = page.locator(".heatmap").first.bounding_box()
    assert box is not None
    page.evaluate("work => { window.__frames = (" + FRAMES + ")(work) }", "still")
    for step in range(240):
        x = box["x"] + 130 + (step * 37) % (box["width"] - 140)
        page.mouse.move(x, min(880, box["y"] + 10 + (step * 13) % 400))
    return page.evaluate("() => window.__frames")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--url", default="http://127.0.0.1:8778")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    url = options.url.rstrip("/")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        first_view(browser, url)
        rounds = [first_view(browser, url) for _ in range(options.rounds)]
        for name in rounds[0]:
            values = sorted(each[name] for each in rounds)
            print(
                f"{name:<11} median {statistics.median(values):9.0f}   from {values[0]:9.0f} to {values[-1]:9.0f}"
            )
        page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]  # a TypedDict of two integers
        page.goto(f"{url}/console/")
        page.wait_for_selector("canvas", timeout=60_000)
        page.wait_for_timeout(1500)
        rate, longest = frames(page, "scroll")
        print(f"scrolling   {rate:.0f} frames/s, longest frame {longest:.0f} ms")
        page.evaluate("window.scrollTo(0, 500)")
        page.wait_for_timeout(500)
        rate, longest = hover(page)
        print(f"hovering    {rate:.0f} frames/s, longest frame {longest:.0f} ms")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
