# SPDX-License-Identifier: Apache-2.0

"""Which version a request speaks: read from its header, refused in the words that clients know.

A missing header means the lowest version, `latest` the highest. A `Version` answers one question, whether it
has a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import microversion_parse

from plimsoll.caches import cache_short
from plimsoll.wire.features import FIRST_MINOR, LAST_MINOR, Feature, version_text
from plimsoll.wire.problems import Problem

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


def negotiate(header: str | None) -> Version:
    """The version that the header of a request asks for; raises a `Problem` if there is no such version."""
    return LOWEST if header is None else _negotiated(header)


@cache_short(entries=256)
def _negotiated(header: str) -> Version:
    try:
        asked = microversion_parse.extract_version({HEADER: header}, SERVICE_TYPE, list(_BY_TEXT))
    except ValueError as problem:
        versions = (("max_version", HIGHEST.text), ("min_version", LOWEST.text))
        raise Problem(406, f"Invalid microversion: {problem}", bare=True, facts=versions) from None
    except TypeError as problem:
        raise Problem(400, f"Invalid microversion: {problem}", bare=True) from None
    return _BY_TEXT[str(asked)]
