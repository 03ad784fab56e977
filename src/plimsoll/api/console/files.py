# SPDX-License-Identifier: Apache-2.0

"""The files of the web application: a table that is made at start. A request can name nothing that is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from plimsoll.http.entity_tags import entity_tag

STATIC = Path(__file__).resolve().parents[2] / "console_static"
"""Where the build of console/ writes."""
INDEX = "index.html"
ASSETS = "assets/"
"""Below it, names have a hash of the content, so a file never changes."""

ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Content codings, the best first, and the ending of the files that the build has compressed."""

BASE = b'<base href="/console/">'
IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True, slots=True, eq=False)
class StaticFile:
    """A file in memory, with its compressed forms by content coding."""

    content: bytes
    content_type: str
    cache_control: str
    compressed: Mapping[str, bytes]

    def form(self, coding: str | None) -> tuple[bytes, str]:
        """Return the content in this coding, and its entity tag. Each coding has a tag of its own."""
        content = self.content if coding is None else self.compressed[coding]
        return content, entity_tag(content)

    def best_coding(self, accepted: str) -> str | None:
        """Return the best coding that the client accepts, or None for the plain content."""
        return next((each for each in self.compressed if each in accepted_codings(accepted)), None)

    def mounted_at(self, prefix: str) -> StaticFile:
        """Return the page for a service below a prefix: its addresses are relative to the base."""
        if not prefix:
            return self
        base = f'<base href="{escape(prefix)}/console/">'.encode("utf-8", "replace")
        return StaticFile(self.content.replace(BASE, base, 1), self.content_type, self.cache_control, {})


def accepted_codings(header: str) -> set[str]:
    """Return the codings of an Accept-Encoding header that have no weight of zero."""
    accepted = set()
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            accepted.add(name.strip())
    return accepted


def load_files(directory: Path = STATIC) -> dict[str, StaticFile]:
    """Return the files below a directory by their relative paths; nothing if the build did not run.

    Files of a type that the web application does not have are left out.
    """
    if not (directory / INDEX).is_file():
        return {}
    return {
        str(file.relative_to(directory)): _load(file, directory)
        for file in sorted(directory.rglob("*"))
        if file.suffix in _TYPES and file.is_file()
    }


def _load(file: Path, directory: Path) -> StaticFile:
    is_hashed = str(file.relative_to(directory)).startswith(ASSETS)
    forms = {coding: file.with_name(file.name + ending) for coding, ending in ENCODINGS.items()}
    return StaticFile(
        file.read_bytes(),
        _TYPES[file.suffix],
        IMMUTABLE if is_hashed else REVALIDATED,
        {coding: form.read_bytes() for coding, form in forms.items() if form.is_file()},
    )
