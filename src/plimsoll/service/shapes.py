# SPDX-License-Identifier: Apache-2.0

"""How many instances of the shapes of `[plimsoll]shapes` fit, for `/metrics`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plimsoll.domain.refusals import Refusal
from plimsoll.domain.values import unhashable_value
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.fit import FitReport, fit_request
from plimsoll.service.placement import Placement

LOG = logging.getLogger(__name__)

SHAPE_SECONDS = 0.2
"""The time for filling the cloud with one shape, as it is now and as if it were empty, each."""
MAX_SHAPES = 10
"""Shapes that can be configured: with all of them a scrape takes 4 seconds at most."""


@unhashable_value
class Shape:
    """A request for allocation candidates, with a name."""

    name: str
    request: CandidatesRequest


class ShapeFits:
    """Computes the fit of each shape in a snapshot, and caches the result until the next snapshot."""

    def __init__(self, placement: Placement, shapes: Sequence[Shape]) -> None:
        self._placement = placement
        self._shapes = shapes
        self._refused = set[str]()
        self._latest: tuple[Snapshot | None, Mapping[str, FitReport]] = None, {}

    def of(self, snapshot: Snapshot, pause: Callable[[], None]) -> Mapping[str, FitReport]:
        """Return the fit of each shape by name. A shape with a trait or class that does not exist is left out."""
        known, fits = self._latest
        if known is None or known.head != snapshot.head or known.origin is not snapshot.origin:
            fits = self._computed(snapshot, pause)
            self._latest = snapshot, fits
        return fits

    def _computed(self, snapshot: Snapshot, pause: Callable[[], None]) -> Mapping[str, FitReport]:
        placement = replace(self._placement, past=snapshot)
        fits = {}
        for shape in self._shapes:
            found = fit_request(placement, shape.request, pause, lambda: False, seconds=SHAPE_SECONDS)
            if isinstance(found, FitReport):
                fits[shape.name] = found
                self._refused.discard(shape.name)
            else:
                self._log_once(shape.name, found)
        return fits

    def _log_once(self, name: str, refusal: Refusal) -> None:
        if name not in self._refused:
            self._refused.add(name)
            LOG.warning("/metrics has no fit of the shape %s of [plimsoll]shapes: %s", name, refusal)
