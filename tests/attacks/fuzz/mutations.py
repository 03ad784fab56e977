# SPDX-License-Identifier: Apache-2.0

"""Mutations of requests: JSON, query, headers, path, bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import quote

from tests.attacks.fuzz.valid import AGGREGATES, CLASSES, CONSUMERS, PROVIDERS, TRAITS, Plan

_RAW = "\x00raw"
"""Begins a string that is written into JSON as it is, without quotes."""

STRINGS = [
    "", " ", "a", "A" * 256, "x" * 5_000, "\n", "CUSTOM_A\n", "null", "0", "-1", "é", "\u2028", "\U0001f600", "\x7f",
    "\x00", "\u0000x", "'", '"', "\\", "%s%n", "{0}", "<b>", "../..", "1e5", "CUSTOM_", "custom_a", "ẞ", "İ", "ﬀ", "\ufeff", "\uffff",
    "K", "00000000000000000000000000000000", "{00000000-0000-0000-0000-000000000000}", "in:", "!", "!in:", "in:!",
]  # fmt: skip
RAW_VALUES = [
    "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1E-400", "-0", "-0.0", "0123", "1.", ".5", "9" * 400, "-" + "9" * 5_000,
    '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', "tru", "nul", "'a'", "{", "[", "]", "//", "1.0", "1e0", "10000000000000000000000.5",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**100, 0.5, 1.5, -0.5, 1e300,
    5e-324, 3.4028235e38, 1e39, 0.1 + 0.2,
]  # fmt: skip
NAMES = [*PROVIDERS, *CONSUMERS, *AGGREGATES, *CLASSES, *TRAITS]


def strange_value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(9)
    if kind == 0:
        return random.choice(STRINGS)
    if kind == 1:
        return random.choice(NUMBERS)
    if kind == 2:
        return _RAW + random.choice(RAW_VALUES)
    if kind == 3:
        return random.choice([None, True, False])
    if kind == 4:
        return random.choice(NAMES)
    if kind == 5 and depth < 3:
        return [strange_value(random, depth + 1) for _ in range(random.choice([0, 1, 2, 50]))]
    if kind == 6 and depth < 3:
        return {
            random.choice(STRINGS + NAMES): strange_value(random, depth + 1)
            for _ in range(random.randrange(3))
        }
    if kind == 7:
        return _RAW + "[" * random.choice([2, 50, 2_000]) + "]" * random.choice([2, 50, 2_000])
    return random.choice(["", [], {}, 0])


def mutate_document(random: Random, made: Plan) -> None:
    if not made.has_body or random.random() < 0.05:
        made.document, made.has_body = strange_value(random), True
        made.headers.append(("Content-Type", "application/json"))
        return
    places = list(_places(made.document))
    if not places or random.random() < 0.03:
        made.document = strange_value(random)
        return
    holder, key = random.choice(places)
    action = random.randrange(6)
    if action == 0 and isinstance(holder, dict):
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        value = holder.pop(key)
        holder[random.choice(STRINGS + NAMES)] = value
    elif action == 2 and isinstance(holder, dict):
        holder[random.choice(STRINGS + NAMES)] = strange_value(random)
    elif action == 3 and isinstance(holder, list):
        holder.extend([holder[key]] * random.choice([1, 2, 100]))
    else:
        holder[key] = strange_value(random)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, content in value.items():
            yield value, key
            yield from _places(content)
    elif isinstance(value, list):
        for number, content in enumerate(value):
            yield value, number
            yield from _places(content)


def mutate_query(random: Random, made: Plan) -> None:
    action = random.randrange(6)
    if made.query and action == 0:
        made.query.append(random.choice(made.query))
    elif made.query and action == 1:
        made.query.pop(random.randrange(len(made.query)))
    elif made.query and action <= 3:
        number = random.randrange(len(made.query))
        name, value = made.query[number]
        made.query[number] = (name, _strange_text(random, value))
    elif made.query and action == 4:
        number = random.randrange(len(made.query))
        name, value = made.query[number]
        made.query[number] = (_strange_text(random, name), value)
    else:
        made.query.append((_strange_text(random, "resources1"), _strange_text(random, "VCPU:1")))


def _strange_text(random: Random, text: str) -> str:
    kind = random.randrange(5)
    if kind == 0:
        return random.choice(STRINGS)
    if kind == 1:
        return text + random.choice(STRINGS)
    if kind == 2:
        return random.choice(["%ff", "%00", "%0d%0a", "%", "%zz", "+", "&", "=", ";", "#", "%c0%80"]) + text
    if kind == 3:
        return text.replace(
            random.choice(":,_=1"), random.choice([":", ",", "", "::", ",,", "-1", "0", "9" * 30])
        )
    return ",".join([text] * random.choice([2, 50]))


HEADER_VALUES = [
    "", "placement", "placement 1", "placement 1.40", "placement 2.0", "placement latest", "placement  1.10", "compute 2.1", "1.10",
    "placement 1.10, compute 2.1", "placement 1.10.1", "placement -1.0", "placement 1." + "0" * 300, "placement \u0661.\u0661", "*/*", "text/html",
    "text/plain", "application/json;q=0", "application/xml", "application/json; charset=utf-16", "multipart/form-data; boundary=x",
    "a" * 3_000, "\xe9\xff", "admin", "mallory", "mallory:p", ":", "admin:" + "p" * 300, "100-continue", "gzip", "req-" + "0" * 36,
    "for=1.2.3.4;proto=https", "http://evil.example", "?1", "0", "-5", "reader", "close", "keep-alive", "%0d%0a", "{}", "null",
]  # fmt: skip
HEADER_NAMES = [
    "OpenStack-API-Version", "Accept", "Content-Type", "X-Auth-Token", "X-Roles", "X-OpenStack-Request-ID", "Forwarded", "X-Forwarded-For",
    "X-Forwarded-Proto", "X-Forwarded-Prefix", "Origin", "Access-Control-Request-Method", "Accept-Encoding", "If-None-Match",
    "X-User-Id", "X-Project-Id", "OpenStack-System-Scope", "Content-Encoding", "Expect", "X-HTTP-Method-Override", "Script-Name", "Range",
]  # fmt: skip


def mutate_headers(random: Random, made: Plan) -> None:
    number = random.randrange(len(made.headers))
    action = random.randrange(4)
    if action == 0 and number:
        made.headers.pop(number)
    elif action == 1 and number:
        made.headers[number] = (made.headers[number][0], random.choice(HEADER_VALUES))
    elif action == 2 and number:
        made.headers.append(made.headers[number])
    else:
        made.headers.append((random.choice(HEADER_NAMES), random.choice(HEADER_VALUES)))


METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "BREW"]


def mutate_path(random: Random, made: Plan) -> None:
    action = random.randrange(4)
    if action == 0:
        made.method = random.choice(METHODS)
        return
    parts = made.path.split("/")
    number = random.randrange(len(parts))
    if action == 1:
        parts[number] = quote(random.choice(STRINGS + NAMES), safe="")
    elif action == 2:
        parts[number] += random.choice(
            ["%00", "%ff", "%2f", "%0a", "%", ";a=b", ".", "%20", "/", "A" * 3_000]
        )
    else:
        parts.insert(number, random.choice(["", "..", ".", "x"]))
    made.path = "/" + "/".join(parts).lstrip("/")


def mutate_bytes(random: Random, content: bytes) -> bytes:
    for _ in range(random.choice([1, 1, 2, 8])):
        if not content:
            return content
        place = random.randrange(len(content))
        action = random.randrange(6)
        if action == 0:
            content = content[:place] + bytes([random.randrange(256)]) + content[place + 1 :]
        elif action == 1:
            content = content[:place] + bytes([random.randrange(256)]) + content[place:]
        elif action == 2:
            content = content[:place] + content[place + random.choice([1, 2, 20]) :]
        elif action == 3:
            content = content[:place]
        elif action == 4:
            end = place + random.choice([1, 10, 100])
            content = content[:end] + content[place:]
        else:
            token = random.choice(
                [b"\r\n", b"\n", b"\r", b"\x00", b" ", b":", b"\r\n\r\n", b"\xff\xfe", b"0\r\n\r\n", b"\t"]
            )
            content = content[:place] + token + content[place:]
    return content


MUTATIONS: list[Callable[[Random, Plan], None]] = [
    mutate_document, mutate_document, mutate_document, mutate_document, mutate_query, mutate_query, mutate_headers, mutate_path,
]  # fmt: skip


def written(random: Random, made: Plan) -> bytes:
    """The request as bytes."""
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in made.query)
    target = (made.path or "/") + (f"?{query}" if query else "")
    lines = [f"{made.method} {target} HTTP/1.1".encode()]
    lines += [f"{name}: {value}".encode("utf-8", "surrogateescape") for name, value in made.headers]
    body = b""
    if made.has_body:
        body = _as_json(random, made.document)
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"", body])


def _quoted(text: str) -> str:
    """Percent-encode a text, but leave a text alone that has escapes already."""
    return quote(text, safe="%:,!&=;+") if "%" in text else quote(text, safe=":,!")


def _as_json(random: Random, document: Any) -> bytes:
    text = json.dumps(document, ensure_ascii=random.random() < 0.5)
    text = re.sub(r'"(?:\\u0000|\x00)raw((?:[^"\\]|\\.)*)"', lambda found: json.loads(f'"{found[1]}"'), text)
    if random.random() < 0.05:
        # A member that occurs twice.
        text = re.sub(
            r'\{("[^"]*"): ',
            lambda found: f"{{{found[1]}: {random.choice(RAW_VALUES)}, {found[1]}: ",
            text,
            count=1,
        )
    return text.encode("utf-8", "surrogatepass")
