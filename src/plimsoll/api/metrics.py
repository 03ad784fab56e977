# SPDX-License-Identifier: Apache-2.0

"""`/metrics` for Prometheus: counters of all workers, and gauges read from the snapshot of this one.

Clients in `[plimsoll]metrics_networks` need no token. Others need one that may list resource providers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client.metrics_core import Metric

from plimsoll.access import Policy, caller_of
from plimsoll.access.trusted_networks import TrustedNetworks
from plimsoll.api.single_flight import SharedRuns, SingleFlight
from plimsoll.http.middleware.request_log import ROUTE_KEY
from plimsoll.http.problems import STATUS_LINES, Problem, send_problem
from plimsoll.http.response import length_header
from plimsoll.metrics import DIRECTORY_VARIABLE
from plimsoll.monitoring import gauges
from plimsoll.monitoring.exposition import CONTENT_TYPE, Exposition
from plimsoll.permit import Permit, permit_of
from plimsoll.service.placement import DatabaseFault, Placement
from plimsoll.service.progress import Progress, follow_head
from plimsoll.service.shapes import ShapeFits

LOG = logging.getLogger(__name__)

PATH = "/metrics"
RULE = "placement:resource_providers:list"
"""The policy rule for callers with a token: they can read the same figures provider by provider."""
DATABASE_TIMEOUT = 1.5
"""Seconds that a scrape waits for the database. Without it, the gauges are those of the last snapshot."""

_NO_PROVIDERS = Problem(
    403,
    "Series of single providers are not served without a token. Set [plimsoll]metrics_providers = true to allow it.",
)
_NO_MEMORY = Problem(
    503,
    "Responses that other clients have not received yet use the memory that this one needs.",
    retry_after=5,
)

_NOT_SHARED = (
    f"/metrics has no counters: this server runs several processes. Set the environment variable {DIRECTORY_VARIABLE} to an"
    " empty directory that all of them can write to."
)


@dataclass(frozen=True, slots=True)
class ScrapeSettings:
    networks: TrustedNetworks
    """The clients that need no token."""
    per_aggregate: bool
    providers: bool
    """Serve single providers to clients without a token."""


@dataclass(frozen=True, slots=True)
class Counters:
    collect: Callable[[], Iterable[Metric]]
    is_shared: bool
    """Whether they are those of all processes of the service."""


class MetricsPage:
    """The WSGI applications at `/metrics`: one for clients of trusted networks, one for callers with a token."""

    def __init__(
        self,
        placement: Placement,
        policy: Policy,
        counters: Counters,
        settings: ScrapeSettings,
        shapes: ShapeFits,
    ) -> None:
        self._placement = placement
        self._policy = policy
        self._counters = counters
        self._settings = settings
        self._shapes = shapes
        self._has_warned = False
        self._scrapes = {with_providers: SharedRuns[bytes]() for with_providers in (False, True)}
        """Scrapes that wait share one text, without and with providers: any number of clients costs as much as two."""
        self._progress = SingleFlight(lambda: _follow(placement), "metrics")

    def for_trusted_clients(self, others: WSGIApplication) -> WSGIApplication:
        """Return the application for requests without a token; `others` gets those of other clients."""

        def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            if not self._settings.networks.has_client_of(environ):
                return others(environ, start_response)
            return self._respond(environ, start_response, self._settings.providers)

        return call

    def for_callers(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The application behind the authentication."""
        environ[ROUTE_KEY] = PATH
        if not self._policy.allows(RULE, caller_of(environ)):
            problem = Problem(403, f"Policy does not allow {RULE} to be performed.")
            return send_problem(problem, environ, start_response)
        return self._respond(environ, start_response, may_see_providers=True)

    def _respond(
        self, environ: WSGIEnvironment, start_response: StartResponse, may_see_providers: bool
    ) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        if method not in ("GET", "HEAD"):
            problem = Problem(405, "Use GET.", allow="GET, HEAD")
            return send_problem(problem, environ, start_response)
        asked = parse_qs(environ.get("QUERY_STRING", "")).get("providers", ["0"])
        with_providers = asked[-1] not in ("0", "false")
        if with_providers and not may_see_providers:
            return send_problem(_NO_PROVIDERS, environ, start_response)
        permit = permit_of(environ)
        if with_providers:
            with permit.released():
                has_memory = permit.wait_for_memory()
            if not has_memory:
                return send_problem(_NO_MEMORY, environ, start_response)
        with_counters = self._are_counters_complete(environ)
        with permit.released():
            text = self._scrapes[with_providers].run(
                lambda: self._text(permit, with_providers, with_counters)
            )
        length = length_header(text)
        headers = [("content-type", CONTENT_TYPE), ("cache-control", "no-store"), length]
        start_response(STATUS_LINES[200], headers)
        return () if method == "HEAD" else (text,)

    def _are_counters_complete(self, environ: WSGIEnvironment) -> bool:
        """Return False if the server has several processes and this one has the counters of itself only."""
        if self._counters.is_shared or not environ.get("wsgi.multiprocess"):
            return True
        if not self._has_warned:
            self._has_warned = True
            LOG.warning(_NOT_SHARED)
        return False

    def _text(self, permit: Permit, with_providers: bool, with_counters: bool) -> bytes:
        """Return the text of one scrape. Takes 0.3 s with 10,000 providers, and seconds with the series of each."""
        progress = self._progress.run(DATABASE_TIMEOUT)
        snapshot = self._placement.ledger.newest
        pause = permit.periodic_yield()
        budget = gauges.PROVIDER_SERIES_BUDGET if with_providers else gauges.SERIES_BUDGET
        text = Exposition(budget, pause)
        if with_counters:
            text.add(self._counters.collect())
        gauges.add_service(text, snapshot.world, snapshot.head.seq, progress)
        gauges.add_resources(text, snapshot.world, per_aggregate=self._settings.per_aggregate, pause=pause)
        gauges.add_shapes(text, self._shapes.of(snapshot, pause))
        if with_providers:
            gauges.add_providers(text, snapshot.world)
        gauges.add_omitted(text)
        return b"".join(text.texts)


def _follow(placement: Placement) -> Progress | None:
    try:
        return follow_head(placement)
    except DatabaseFault as fault:
        level = logging.DEBUG if fault.is_outage else logging.WARNING  # the outage has log lines of its own
        LOG.log(level, "Scraped without the database: %s", fault)
    except Exception:
        LOG.exception("Scraped without the database")
    return None
