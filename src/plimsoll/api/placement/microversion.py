# SPDX-License-Identifier: Apache-2.0

"""Version negotiation: the version that the header of a request names. Error texts are those of the reference.

A missing header means the lowest version, `latest` the highest. `Version.has` tests for a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import microversion_parse

from plimsoll.api.placement.features import FIRST_MINOR, LAST_MINOR, Feature, version_text
from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten

SERVICE_TYPE = "placement"
HEADER = microversion_parse.STANDARD_HEADER
ENVIRON_HEADER = "HTTP_" + HEADER.upper().replace("-", "_")


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A microversion. Each exists once, in VERSIONS, and compares by identity, so that lookups by version are fast."""

    minor: int
    text: str = field(init=False)
    header: tuple[str, str] = field(init=False)
    """The header of the response."""

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


MAX_SERVICES = 100
"""Services whose versions the header may name: each takes a microsecond to parse."""
_HEADER_FORMAT = f"A version has two numbers, as in '{HEADER}: {SERVICE_TYPE} {HIGHEST.text}'."


def negotiate(header: str | None) -> Version:
    """Return the version that the header names; raise a `Problem` if it does not exist."""
    return LOWEST if header is None else _parse_header(header)


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _parse_header(header: str) -> Version:
    _check_services(header)
    try:
        requested = microversion_parse.extract_version({HEADER: header}, SERVICE_TYPE, list(_BY_TEXT))
    except ValueError as problem:
        versions = (("max_version", HIGHEST.text), ("min_version", LOWEST.text))
        detail = f"Invalid microversion: {shorten(str(problem), LONGEST_QUOTE)}"
        raise Problem(406, detail, omit_vary=True, facts=versions) from None
    except TypeError as problem:
        detail = f"Invalid microversion: {shorten(str(problem), LONGEST_QUOTE)}. {_HEADER_FORMAT}"
        raise Problem(400, detail, omit_vary=True) from None
    return _BY_TEXT[str(requested)]


def _check_services(header: str) -> None:
    if header.count(",") >= MAX_SERVICES:
        detail = f"Invalid microversion: the header names more than {MAX_SERVICES} services. {_HEADER_FORMAT}"
        raise Problem(400, detail, omit_vary=True)


def names_version(header: str) -> bool:
    """Return whether the header names a version of this service, and not only of others."""
    _check_services(header)
    return microversion_parse.get_version({HEADER: header}, SERVICE_TYPE) is not None


def explain_unused_header(header: str | None) -> str:
    """Return a note on a version header that was not used because it names another service or none; else empty."""
    if not header or names_version(header):
        return ""
    quoted = shorten(header, LONGEST_QUOTE)
    return (
        f"The header '{HEADER}: {quoted}' names no version of {SERVICE_TYPE}: this request has version {LOWEST.text}."
        f" {_HEADER_FORMAT}"
    )
