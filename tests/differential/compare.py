# SPDX-License-Identifier: Apache-2.0

"""Says where two answers to one request differ.

Differences are what a client can act upon: status, headers, error code, body. Lists are compared without
their order. The words of an error's detail, and times of last change that are far apart, are a softer class,
`wording`.
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
from tests.differential.servers import Answer
from tests.differential.wording import same_meaning

SHOWN = 3
SAME_MOMENT = timedelta(seconds=20)
UUID = rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
INVENTED = "<the uuid that the server invented>"

UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class Verdict:
    differences: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.differences


def compare(request: Request, reference: Answer, ours: Answer) -> Verdict:
    if request.nameless:
        reference, ours = masked(reference), masked(ours)
    differences = [*of_status(reference, ours), *of_headers(reference, ours)]
    softer = list(of_times(reference, ours))
    if reference.body != ours.body:
        body, wording = of_bodies(reference, ours)
        differences += body
        softer += wording
    return Verdict(tuple(differences), tuple(softer))


def masked(answer: Answer) -> Answer:
    """The answer without the uuid that the server chose."""
    uuid = created(answer)
    if uuid is None:
        return replace(answer, body=re.sub(UUID, INVENTED.encode(), answer.body))
    headers = {name: value.replace(uuid, INVENTED) for name, value in answer.headers.items()}
    return replace(answer, headers=headers, body=answer.body.replace(uuid.encode(), INVENTED.encode()))


def created(answer: Answer) -> str | None:
    """The uuid of the provider that was made."""
    location = answer.headers.get("location", "")
    return location.rpartition("/")[2] if answer.status in (200, 201) and location else None


def of_status(reference: Answer, ours: Answer) -> Iterator[str]:
    if reference.status != ours.status:
        yield f"status: reference {reference.status}, here {ours.status}"


def of_headers(reference: Answer, ours: Answer) -> Iterator[str]:
    for name, view in HEADERS.items():
        there, here = view(reference.headers.get(name)), view(ours.headers.get(name))
        if there != here:
            yield f"header {name}: reference {there}, here {here}"


def of_times(reference: Answer, ours: Answer) -> Iterator[str]:
    """Moments of change that are too far apart to be the same: one server may start much later than the other."""
    there, here = reference.headers.get("last-modified"), ours.headers.get("last-modified")
    if there and here and abs(parsedate_to_datetime(there) - parsedate_to_datetime(here)) > SAME_MOMENT:
        yield f"last-modified: reference {there}, here {here}"


def word(value: str | None) -> str | None:
    return value


def words(value: str | None) -> list[str] | None:
    return None if value is None else sorted({part.strip().lower() for part in value.split(",")})


def path(value: str | None) -> str | None:
    return None if value is None else urlsplit(value).path


def media_type(value: str | None) -> str | None:
    return None if value is None else value.lower().replace(" ", "")


def presence(value: str | None) -> str:
    return "missing" if value is None else "present"


HEADERS = {
    "openstack-api-version": word,
    "vary": words,
    "location": path,
    "allow": words,
    "content-type": media_type,
    "last-modified": presence,
    "cache-control": presence,
    "x-openstack-request-id": presence,
}


def of_bodies(reference: Answer, ours: Answer) -> tuple[list[str], list[str]]:
    """Differences of substance, and of words."""
    there, here = document(reference), document(ours)
    if there is None or here is None:
        if reference.status >= 400 and ours.status >= 400 and there is here:
            return [], [f"body: reference {reference.body!r}, here {ours.body!r}"]
        return [f"body: reference {shown(reference.body)}, here {shown(ours.body)}"], []
    if is_error(there) and is_error(here):
        return of_errors(there["errors"][0], here["errors"][0])
    if reference.status == ours.status == UNAUTHORIZED and is_message(there) and is_message(here):
        said, says = there.pop("message"), here.pop("message")
        wording = [] if same_meaning(said, says) else [f"message: reference {said!r}, here {says!r}"]
        return list(of_documents(there, here, "body")), wording
    if "allocation_requests" in there and "allocation_requests" in here:
        return list(of_candidates(there, here)), []
    if canonical(there) == canonical(here):
        return [], []
    return list(of_documents(there, here, "body")), []


def document(answer: Answer) -> Any:
    if not answer.headers.get("content-type", "").startswith("application/json"):
        return None
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def is_error(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("errors"), list) and len(body["errors"]) == 1


def is_message(body: Any) -> bool:
    """The document of a 401, which WebOb writes."""
    return isinstance(body, dict) and isinstance(body.get("message"), str)


def of_errors(there: dict[str, Any], here: dict[str, Any]) -> tuple[list[str], list[str]]:
    there, here = dict(there), dict(here)
    said, says = str(there.pop("detail", "")), str(here.pop("detail", ""))
    there["request_id"], here["request_id"] = "request_id" in there, "request_id" in here
    wording = [] if same_meaning(said, says) else [f"detail: reference {said!r}, here {says!r}"]
    return list(of_documents(there, here, "error")), wording


def of_documents(there: Any, here: Any, where: str) -> Iterator[str]:
    """The innermost places in which two documents differ; numbers of different type differ."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted(there.keys() | here.keys()):
            if key not in there or key not in here:
                side = "the reference" if key in there else "here"
                yield f"{where}.{key}: only {side}: {shown(there.get(key, here.get(key)))}"
            elif canonical(there[key]) != canonical(here[key]):
                yield from of_documents(there[key], here[key], f"{where}.{key}")
    elif isinstance(there, list) and isinstance(here, list):
        yield from of_bags(bag(there), bag(here), where)
    elif canonical(there) != canonical(here):
        yield f"{where}: reference {shown(there)}, here {shown(here)}"


def of_candidates(there: dict[str, Any], here: dict[str, Any]) -> Iterator[str]:
    yield from of_bags(candidates(there), candidates(here), "candidates")
    summaries = "provider_summaries"
    yield from of_documents(there[summaries], here[summaries], summaries)


def candidates(body: dict[str, Any]) -> Counter[str]:
    """The allocation requests (with their mappings) as a bag of comparable texts."""
    return bag(body["allocation_requests"])


def bag(values: list[Any]) -> Counter[str]:
    return Counter(canonical(value) for value in values)


def of_bags(there: Counter[str], here: Counter[str], where: str) -> Iterator[str]:
    missing, extra = there - here, here - there
    if missing or extra:
        yield f"{where}: reference {there.total()}, here {here.total()}"
    for label, some in (("only in the reference", missing), ("only here", extra)):
        for text in sorted(some)[:SHOWN]:
            yield f"{where}: {label}: {text}"
        if len(some) > SHOWN:
            yield f"{where}: {label}: and {len(some) - SHOWN} more"


def canonical(value: Any) -> str:
    """One text for all documents that differ only in the order of keys and of lists."""
    return json.dumps(in_order(value), sort_keys=True)


def in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: in_order(content) for key, content in value.items()}
    if isinstance(value, list):
        return sorted(
            (in_order(content) for content in value), key=lambda content: json.dumps(content, sort_keys=True)
        )
    return value


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 600 else f"{text[:600]} ... ({len(text)} characters)"


def of_limited(limit: int, limited: Answer, full: Answer, who: str) -> Iterator[str]:
    """A limited answer must be a part of the same server's full answer, as large as was asked for."""
    part, whole = candidates(limited.json()), candidates(full.json())
    if part.total() != min(limit, whole.total()):
        yield f"limit: {who} gives {part.total()} of {whole.total()} with limit={limit}"
    if part - whole:
        yield f"limit: {who} gives candidates that it does not give without a limit: {sorted(part - whole)[:SHOWN]}"
    summaries, all_summaries = limited.json()["provider_summaries"], full.json()["provider_summaries"]
    foreign = [uuid for uuid in summaries if canonical(summaries[uuid]) != canonical(all_summaries.get(uuid))]
    if foreign:
        yield f"limit: {who} gives summaries that it does not give without a limit: {foreign[:SHOWN]}"
    wanted = expected_summaries(limited.json(), all_summaries)
    if wanted is not None and wanted != set(summaries):
        yield f"limit: {who} gives summaries of {sorted(summaries)}, not of the trees of its candidates {sorted(wanted)}"


def expected_summaries(limited: dict[str, Any], summaries: dict[str, Any]) -> set[str] | None:
    """The providers of the trees that the candidates use, where the version tells the trees."""
    if not all("root_provider_uuid" in summary for summary in summaries.values()):
        return None
    used = {uuid for request in limited["allocation_requests"] for uuid in request["allocations"]}
    roots = {summaries[uuid]["root_provider_uuid"] for uuid in used if uuid in summaries}
    return {uuid for uuid, summary in summaries.items() if summary["root_provider_uuid"] in roots}
