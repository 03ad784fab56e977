# SPDX-License-Identifier: Apache-2.0

"""Which version a request speaks: read from its header, refused in the words that clients know.

A missing header means the lowest version, `latest` the highest. A `Version` answers one question, whether it
has a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import microversion_parse

from plimsoll.api.placement.features import (
    FIRST_MINOR,
    LAST_MINOR,
    Feature,
    version_text,
)
from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shortened

SERVICE_TYPE = "placement"
HEADER = microversion_parse.STANDARD_HEADER
ENVIRON_HEADER = "HTTP_" + HEADER.upper().replace("-", "_")


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """There is one of each, in VERSIONS, so that it is quick to look up what belongs to it."""

    minor: int
    text: str = field(init=False)
    header: tuple[str, str] = field(init=False)
    """Goes back with the answer."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", version_text(self.minor))
        object.__setattr__(self, "header", (HEADER, f"{SERVICE_TYPE} {self.text}"))

    def __str__(self) -> str:
        return self.text

    def has(self, feature: Feature) -> bool:
        return self.minor >= feature.minor


VERSIONS = tuple(Version(minor) for minor in range(FIRST_MINOR, LAST_MINOR + 1))
LOWEST, HIGHEST = VERSIONS[0], VERSIONS[-1]

_BY_TEXT = {version.text: version for version in VERSIONS}


_FORM = f"A version has two numbers, as in '{HEADER}: {SERVICE_TYPE} {HIGHEST.text}'."


def negotiate(header: str | None) -> Version:
    """The version that the header of a request asks for; raises a `Problem` if there is no such version."""
    return LOWEST if header is None else _negotiated(header)


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _negotiated(header: str) -> Version:
    try:
        asked = microversion_parse.extract_version({HEADER: header}, SERVICE_TYPE, list(_BY_TEXT))
    except ValueError as problem:
        versions = (("max_version", HIGHEST.text), ("min_version", LOWEST.text))
        words = f"Invalid microversion: {shortened(str(problem), LONGEST_QUOTE)}"
        raise Problem(406, words, bare=True, facts=versions) from None
    except TypeError as problem:
        detail = f"Invalid microversion: {shortened(str(problem), LONGEST_QUOTE)}. {_FORM}"
        raise Problem(400, detail, bare=True) from None
    return _BY_TEXT[str(asked)]


def unread_header(header: str | None) -> str:
    """Explain a version header that is not used because it names another service, or none; empty for any other."""
    if not header or microversion_parse.get_version({HEADER: header}, SERVICE_TYPE) is not None:
        return ""
    quoted = shortened(header, LONGEST_QUOTE)
    return (
        f"The header '{HEADER}: {quoted}' names no version of {SERVICE_TYPE}, so that the version of this request is"
        f" {LOWEST.text}. {_FORM}"
    )
