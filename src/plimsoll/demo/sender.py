# SPDX-License-Identifier: Apache-2.0

"""Send requests of the made-up cloud to a service: over HTTP, or by another function with the same signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
import urllib3
from urllib3.util import Timeout

from plimsoll.client.errors import ClientFailure, UnreachableService, one_line, refusal_of

CONNECTIONS = 32
"""Requests at a time while the cloud is written: writes that wait together share a commit."""
MICROVERSION = "placement latest"
_RETRIES = 3

SendRequest = Callable[[str, str, bytes, dict[str, str]], tuple[int, bytes]]
"""Sends method, path with query, body and headers. Returns the status and the body of the response."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Requests as documents, with the error of a refused one as an exception."""

    send: SendRequest
    untyped_version: str
    """The value of the version header for claims of consumers without a type."""

    def call(
        self, method: str, path: str, document: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Return the status and the document of the response."""
        body = b"" if document is None else orjson.dumps(document)
        sent = {"openstack-api-version": MICROVERSION, "accept": "application/json", **(headers or {})}
        if document is not None:
            sent["content-type"] = "application/json"
        status, received = self.send(method, path, body, sent)
        try:
            return status, orjson.loads(received) if received else None
        except orjson.JSONDecodeError:
            if status < 400:
                raise ClientFailure(f"{method} {path}: the response is not a JSON document") from None
            return status, None

    def require(
        self, method: str, path: str, document: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        """Return the document of the response. Raise RefusedRequest unless it is a success."""
        status, response = self.call(method, path, document, headers)
        if status >= 300:
            raise refusal_of(status, f"{method} {path}", response)
        return response


def http_sender(
    url: str,
    token: Callable[[], str],
    untyped_version: str,
    *,
    verify: bool = True,
    cacert: str | None = None,
    seconds: float = 60.0,
) -> Sender:
    """Return a sender for the service at this URL, with connections that stay open."""
    pool = urllib3.PoolManager(
        maxsize=CONNECTIONS,
        block=True,
        timeout=Timeout(total=seconds),
        retries=urllib3.Retry(
            _RETRIES,
            redirect=0,
            status=_RETRIES,
            status_forcelist=(502, 503, 504),
            allowed_methods=None,
            backoff_factor=0.5,
            raise_on_status=False,
        ),
        cert_reqs="CERT_REQUIRED" if verify else "CERT_NONE",
        ca_certs=cacert,
    )
    base = url.rstrip("/")

    def send(method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            response = pool.request(
                method, base + path, body=body or None, headers={**headers, "x-auth-token": token()}
            )
        except urllib3.exceptions.HTTPError as error:
            raise UnreachableService(f"{base} cannot be reached: {_cause(error)}") from error
        return response.status, response.data

    return Sender(send, untyped_version)


def _cause(error: urllib3.exceptions.HTTPError) -> str:
    """Return the reason of a failure, which the library wraps in the failure of the last attempt."""
    cause = getattr(error, "reason", None) or error
    return one_line(str(cause).rpartition(": ")[2])
