# SPDX-License-Identifier: Apache-2.0

"""Requests as they are sent, and the seeded random generator for all random choices.

A request holds only what is sent, so a recorded one can be sent again. Equal seeds and equal states give equal
requests.
"""

import json
import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

T = TypeVar("T")

NEWEST = 39
ADMIN = (("x-auth-token", "admin"),)
SERVICE = (("x-auth-token", "nova:services"), ("x-roles", "service"))
JSON = (("content-type", "application/json"),)

Query = Sequence[tuple[str, str]]
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A request; `kind` names the generator and is for reports only."""

    kind: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Headers = ADMIN
    body: bytes | None = None

    @property
    def target(self) -> str:
        path = quote(self.path, safe="/:,!@%")
        return f"{path}?{urlencode(self.query, safe=':,!')}" if self.query else path

    def with_header(self, name: str, value: str | None) -> "Request":
        others = tuple(header for header in self.headers if header[0] != name)
        return replace(self, headers=others if value is None else (*others, (name, value)))

    def without(self, parameter: str) -> "Request":
        return replace(self, query=tuple(pair for pair in self.query if pair[0] != parameter))

    def values(self, parameter: str) -> list[str]:
        return [value for name, value in self.query if name == parameter]

    @property
    def server_chooses_uuid(self) -> bool:
        """True if this creates a provider without a uuid, so that the server chooses one."""
        if (self.method, self.path) != ("POST", "/resource_providers"):
            return False
        try:
            document = json.loads(self.body or b"")
        except ValueError:
            return False
        return isinstance(document, dict) and not document.get("uuid")

    @property
    def version(self) -> "Version":
        return Version.of(dict(self.headers).get("openstack-api-version"))

    def __str__(self) -> str:
        lines = [f"{self.method} {self.target}", *(f"{name}: {value}" for name, value in self.headers)]
        if self.body is not None:
            lines.append(self.body.decode(errors="backslashreplace"))
        return "\n".join(lines)

    def as_curl(self, base: str) -> str:
        """Return the request as a curl command."""
        arguments = [
            "curl -i",
            f"-X {self.method}",
            *(f"-H '{name}: {value}'" for name, value in self.headers),
        ]
        if self.body is not None:
            quoted = self.body.decode(errors="backslashreplace").replace("'", "'\\''")
            arguments.append(f"--data-binary '{quoted}'")
        return " ".join([*arguments, f"{base}'{self.target}'"])


@dataclass(frozen=True, slots=True)
class Version:
    """The microversion header and its minor version (None: not acceptable)."""

    header: str | None
    minor: int | None

    @classmethod
    def of(cls, header: str | None) -> "Version":
        if header is None or not header.startswith("placement "):
            return cls(header, 0)
        text = header.removeprefix("placement ").strip()
        if text == "latest":
            return cls(header, NEWEST)
        major, _, minor = text.partition(".")
        good = major == "1" and minor.isdigit() and int(minor) <= NEWEST
        return cls(header, int(minor) if good else None)

    @property
    def headers(self) -> Headers:
        return () if self.header is None else (("openstack-api-version", self.header),)

    def __ge__(self, minor: int) -> bool:
        return self.minor is not None and self.minor >= minor


class SeededRandom:
    """Random choices from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def pick(self, choices: Iterable[T]) -> T:
        """Return one of the choices. Sets are sorted first, so that equal seeds give equal choices."""
        return self._random.choice(ordered(choices))

    def some(self, choices: Iterable[T], most: int, least: int = 0) -> list[T]:
        """Return between `least` and `most` different choices."""
        pool = ordered(choices)
        return self._random.sample(pool, min(len(pool), self._random.randint(least, most)))

    def weighted(self, choices: Sequence[tuple[T, int]]) -> T:
        return self._random.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]

    def uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def version(self, since: int = 0, until: int = NEWEST) -> Version:
        """Return a version, mostly one with the feature; sometimes the newest or no version."""
        if self.chance(0.06):
            since, until = 0, NEWEST
        minor = self.number(since, until)
        if until == NEWEST and self.chance(0.1):
            return Version.of(self.pick(("placement latest", f"placement 1.{NEWEST}")))
        if since == 0 and self.chance(0.05):
            return Version.of(None)
        return Version.of(f"placement 1.{minor}")


def ordered(choices: Iterable[T]) -> list[T]:
    if isinstance(choices, list | tuple):
        return list(choices)
    return sorted(choices, key=str)


def read(kind: str, path: str, version: Version, query: Query = ()) -> Request:
    return Request(kind, "GET", path, tuple(query), (*ADMIN, *version.headers))


def write(kind: str, method: str, path: str, version: Version, body: Any = None) -> Request:
    if body is None:
        return Request(kind, method, path, (), (*ADMIN, *version.headers), b"" if method == "PUT" else None)
    return Request(kind, method, path, (), (*ADMIN, *version.headers, *JSON), json.dumps(body).encode())
