# SPDX-License-Identifier: Apache-2.0

"""Write the page of versions from the table of features: `make docs`."""

from __future__ import annotations

from pathlib import Path

from plimsoll.api.placement.features import Feature, version_text

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"

INTRODUCTION = """# Versions

Each request names its version of the API in the header `openstack-api-version: placement 1.28`. `latest` is the newest
version; a request without the header has version 1.0. All versions are always supported: a client that works today
works after every upgrade.

This page is generated from `src/plimsoll/api/placement/features.py` by `make docs`.

| version | added |
|---|---|
"""


def page() -> str:
    lines = [f"| {version_text(0)} | resource providers, their inventories and usages, allocations |"]
    lines += [
        f"| {feature.version} | {feature.history} |" for feature in sorted(Feature, key=lambda f: f.minor)
    ]
    return INTRODUCTION + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
