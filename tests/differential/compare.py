# SPDX-License-Identifier: Apache-2.0

"""Compare two responses to one request.

Differences are what a client can act upon: status, headers, error code, body. Lists are compared without their order.
The text of an error's detail, and Last-Modified times that are far apart, are a separate class, `wording`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from tests.differential.requests import Request
from tests.differential.servers import Response
from tests.differential.wording import same_meaning

MAX_SHOWN = 3
SAME_MOMENT = timedelta(seconds=20)
UUID = rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
CREATED_UUID = "<uuid chosen by the server>"

UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class Verdict:
    differences: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.differences


def compare(request: Request, reference: Response, ours: Response) -> Verdict:
    if request.server_chooses_uuid:
        reference, ours = without_created_uuid(reference), without_created_uuid(ours)
    differences = [*compare_status(reference, ours), *compare_headers(reference, ours)]
    wording_differences = list(compare_times(reference, ours))
    if reference.body != ours.body:
        body, wording = compare_bodies(reference, ours)
        differences += body
        wording_differences += wording
    return Verdict(tuple(differences), tuple(wording_differences))


def without_created_uuid(response: Response) -> Response:
    """Return the response with the uuid that the server chose replaced by a constant."""
    uuid = created_uuid(response)
    if uuid is None:
        return replace(response, body=re.sub(UUID, CREATED_UUID.encode(), response.body))
    headers = {name: value.replace(uuid, CREATED_UUID) for name, value in response.headers.items()}
    return replace(
        response, headers=headers, body=response.body.replace(uuid.encode(), CREATED_UUID.encode())
    )


def created_uuid(response: Response) -> str | None:
    """Return the uuid of the created provider."""
    location = response.headers.get("location", "")
    return location.rpartition("/")[2] if response.status in (200, 201) and location else None


def compare_status(reference: Response, ours: Response) -> Iterator[str]:
    if reference.status != ours.status:
        yield f"status: reference {reference.status}, here {ours.status}"


def compare_headers(reference: Response, ours: Response) -> Iterator[str]:
    for name, view in HEADERS.items():
        expected, actual = view(reference.headers.get(name)), view(ours.headers.get(name))
        if expected != actual:
            yield f"header {name}: reference {expected}, here {actual}"


def compare_times(reference: Response, ours: Response) -> Iterator[str]:
    """Compare Last-Modified with a tolerance, because one server may start much later than the other."""
    expected, actual = reference.headers.get("last-modified"), ours.headers.get("last-modified")
    if (
        expected
        and actual
        and abs(parsedate_to_datetime(expected) - parsedate_to_datetime(actual)) > SAME_MOMENT
    ):
        yield f"last-modified: reference {expected}, here {actual}"


def unchanged(value: str | None) -> str | None:
    return value


def token_set(value: str | None) -> list[str] | None:
    return None if value is None else sorted({part.strip().lower() for part in value.split(",")})


def path(value: str | None) -> str | None:
    return None if value is None else urlsplit(value).path


def media_type(value: str | None) -> str | None:
    return None if value is None else value.lower().replace(" ", "")


def presence(value: str | None) -> str:
    return "missing" if value is None else "present"


HEADERS = {
    "openstack-api-version": unchanged,
    "vary": token_set,
    "location": path,
    "allow": token_set,
    "content-type": media_type,
    "last-modified": presence,
    "cache-control": presence,
    "x-openstack-request-id": presence,
}


def compare_bodies(reference: Response, ours: Response) -> tuple[list[str], list[str]]:
    """Return differences of content, and differences of wording."""
    expected, actual = document(reference), document(ours)
    if expected is None or actual is None:
        if reference.status >= 400 and ours.status >= 400 and expected is actual:
            return [], [f"body: reference {reference.body!r}, here {ours.body!r}"]
        return [f"body: reference {shown(reference.body)}, here {shown(ours.body)}"], []
    if is_error(expected) and is_error(actual):
        return compare_errors(expected["errors"][0], actual["errors"][0])
    if reference.status == ours.status == UNAUTHORIZED and is_message(expected) and is_message(actual):
        expected_text, actual_text = expected.pop("message"), actual.pop("message")
        wording = (
            []
            if same_meaning(expected_text, actual_text)
            else [f"message: reference {expected_text!r}, here {actual_text!r}"]
        )
        return list(compare_documents(expected, actual, "body")), wording
    if "allocation_requests" in expected and "allocation_requests" in actual:
        return list(compare_candidates(expected, actual)), []
    if canonical(expected) == canonical(actual):
        return [], []
    return list(compare_documents(expected, actual, "body")), []


def document(response: Response) -> Any:
    if not response.headers.get("content-type", "").startswith("application/json"):
        return None
    try:
        return json.loads(response.body)
    except ValueError:
        return None


def is_error(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("errors"), list) and len(body["errors"]) == 1


def is_message(body: Any) -> bool:
    """True for the document of a 401, which WebOb writes."""
    return isinstance(body, dict) and isinstance(body.get("message"), str)


def compare_errors(expected: dict[str, Any], actual: dict[str, Any]) -> tuple[list[str], list[str]]:
    expected, actual = dict(expected), dict(actual)
    expected_text, actual_text = str(expected.pop("detail", "")), str(actual.pop("detail", ""))
    expected["request_id"], actual["request_id"] = "request_id" in expected, "request_id" in actual
    wording = (
        []
        if same_meaning(expected_text, actual_text)
        else [f"detail: reference {expected_text!r}, here {actual_text!r}"]
    )
    return list(compare_documents(expected, actual, "error")), wording


def compare_documents(expected: Any, actual: Any, where: str) -> Iterator[str]:
    """Yield the innermost paths at which two documents differ. Numbers of different types differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                side = "the reference" if key in expected else "here"
                yield f"{where}.{key}: only {side}: {shown(expected.get(key, actual.get(key)))}"
            elif canonical(expected[key]) != canonical(actual[key]):
                yield from compare_documents(expected[key], actual[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from compare_multisets(multiset(expected), multiset(actual), where)
    elif canonical(expected) != canonical(actual):
        yield f"{where}: reference {shown(expected)}, here {shown(actual)}"


def compare_candidates(expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[str]:
    yield from compare_multisets(candidates(expected), candidates(actual), "candidates")
    summaries = "provider_summaries"
    yield from compare_documents(expected[summaries], actual[summaries], summaries)


def candidates(body: dict[str, Any]) -> Counter[str]:
    """Return the allocation requests (with mappings) as a multiset of canonical texts."""
    return multiset(body["allocation_requests"])


def multiset(values: list[Any]) -> Counter[str]:
    return Counter(canonical(value) for value in values)


def compare_multisets(expected: Counter[str], actual: Counter[str], where: str) -> Iterator[str]:
    missing, extra = expected - actual, actual - expected
    if missing or extra:
        yield f"{where}: reference {expected.total()}, here {actual.total()}"
    for label, some in (("only in the reference", missing), ("only here", extra)):
        for text in sorted(some)[:MAX_SHOWN]:
            yield f"{where}: {label}: {text}"
        if len(some) > MAX_SHOWN:
            yield f"{where}: {label}: and {len(some) - MAX_SHOWN} more"


def canonical(value: Any) -> str:
    """Return the same text for documents that differ only in the order of keys and lists."""
    return json.dumps(sorted_lists(value), sort_keys=True)


def sorted_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sorted_lists(content) for key, content in value.items()}
    if isinstance(value, list):
        return sorted(
            (sorted_lists(content) for content in value),
            key=lambda content: json.dumps(content, sort_keys=True),
        )
    return value


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 600 else f"{text[:600]} ... ({len(text)} characters)"


def compare_limited(limit: int, limited: Response, full: Response, server: str) -> Iterator[str]:
    """Check that a limited result is a subset of the same server's full result, of the right size."""
    part, whole = candidates(limited.json()), candidates(full.json())
    if part.total() != min(limit, whole.total()):
        yield f"limit: {server} returns {part.total()} of {whole.total()} with limit={limit}"
    if part - whole:
        yield f"limit: {server} returns candidates that it does not return without a limit: {sorted(part - whole)[:MAX_SHOWN]}"
    summaries, all_summaries = limited.json()["provider_summaries"], full.json()["provider_summaries"]
    foreign = [uuid for uuid in summaries if canonical(summaries[uuid]) != canonical(all_summaries.get(uuid))]
    if foreign:
        yield f"limit: {server} returns summaries that it does not return without a limit: {foreign[:MAX_SHOWN]}"
    wanted = expected_summaries(limited.json(), all_summaries)
    if wanted is not None and wanted != set(summaries):
        yield f"limit: {server} returns summaries of {sorted(summaries)}, not of the trees of its candidates {sorted(wanted)}"


def expected_summaries(limited: dict[str, Any], summaries: dict[str, Any]) -> set[str] | None:
    """Return the providers of all trees that the candidates use, or None if the version shows no trees."""
    if not all("root_provider_uuid" in summary for summary in summaries.values()):
        return None
    used = {uuid for request in limited["allocation_requests"] for uuid in request["allocations"]}
    roots = {summaries[uuid]["root_provider_uuid"] for uuid in used if uuid in summaries}
    return {uuid for uuid, summary in summaries.items() if summary["root_provider_uuid"] in roots}
