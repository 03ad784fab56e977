# SPDX-License-Identifier: Apache-2.0

"""Send requests to the v1 API, and return the responses as values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from keystoneauth1 import exceptions
from keystoneauth1.adapter import Adapter
from requests import Response
from requests.exceptions import RequestException

from plimsoll.client.errors import ClientFailure, UnreachableService, one_line, reason_of, refusal_of

TEXT_OR_ERROR = "text/plain, application/json;q=0.5"
"""Text, but JSON for errors: an error as text has no fields."""
VERDICT_HEADER = "plimsoll-verdict"
"""The header with which an explanation as text carries its verdict."""


@dataclass(frozen=True, slots=True)
class ExplainedText:
    text: str
    verdict: str
    """`found`, `not now` or `never`."""


@contextmanager
def _client_failures() -> Iterator[None]:
    """Turn exceptions of the libraries into ours."""
    try:
        yield
    except exceptions.HttpError as error:  # Keystone's
        raise ClientFailure(f"Authentication failed: {one_line(str(error))}") from error
    except (exceptions.ConnectionError, exceptions.DiscoveryFailure, RequestException) as error:
        raise UnreachableService(reason_of(error)) from error
    except exceptions.CatalogException as error:
        raise ClientFailure(f"The catalog has no such endpoint: {one_line(str(error))}") from error
    except exceptions.ClientException as error:
        raise ClientFailure(one_line(str(error))) from error


class V1Client:
    """Sends requests with the session, endpoint and retries of an adapter."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def endpoint(self) -> str:
        """Return the address of the service. Raise an exception if the catalog has none."""
        with _client_failures():
            address: str | None = self._adapter.get_endpoint()
        if address is None:
            raise ClientFailure("The catalog has no endpoint of this service.")
        return address

    def token(self) -> str:
        """Return a valid token; a new one if the last one has expired."""
        with _client_failures():
            token: str | None = self._adapter.get_token()
        return token or ""

    def explain(self, query: str, version: str | None = None) -> ExplainedText:
        """Return the explanation of a candidates query as text. `version` is the microversion of the query."""
        response = self.get(f"explain?{query}", accept=TEXT_OR_ERROR, version=version)
        return ExplainedText(response.text, response.headers.get(VERDICT_HEADER, ""))

    def explain_document(self, query: str, version: str | None = None) -> dict[str, Any]:
        """Return the same explanation as a document."""
        return self.document(f"explain?{query}", version)

    def unplaced(self, request_id: str) -> list[dict[str, Any]]:
        """Return the searches without candidates of this request id, nova's or the service's own."""
        found: list[dict[str, Any]] = self.document(f"unplaced?{urlencode({'request_id': request_id})}")[
            "unplaced"
        ]
        return found

    def document(self, path: str, version: str | None = None) -> dict[str, Any]:
        """Return the JSON at a path below /plimsoll/v1/."""
        response = self.get(path, version=version)
        try:
            document = response.json()
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise ClientFailure(f"{response.url}: the response is not a JSON document")
        return document

    def get(self, path: str, accept: str = "application/json", version: str | None = None) -> Response:
        """Get a path below /plimsoll/v1/. Raise an exception unless the status is 2xx."""
        headers = {"accept": accept}
        if version is not None:
            headers["openstack-api-version"] = f"placement {version}"
        with _client_failures():
            response: Response = self._adapter.get(f"/plimsoll/v1/{path}", headers=headers)
        if not 200 <= response.status_code < 300:
            raise self._refusal(response)
        return response

    @staticmethod
    def _refusal(response: Response) -> ClientFailure:
        try:
            document = response.json()
        except ValueError:
            document = None
        refusal = refusal_of(response.status_code, response.reason or "", document)
        if refusal.status == 404 and refusal.detail in ("", "The resource could not be found."):
            return ClientFailure(
                f"{response.url.partition('?')[0]} does not exist: is this service Plimsoll?"
            )
        return refusal
