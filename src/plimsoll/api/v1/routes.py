# SPDX-License-Identifier: Apache-2.0

"""All routes of the Plimsoll API."""

from __future__ import annotations

from plimsoll.api.v1.handlers import changes, consumers, explain, fit, openapi, providers, unplaced, usage
from plimsoll.api.v1.route import V1Route

ROUTES: tuple[V1Route, ...] = (
    *explain.ROUTES,
    *unplaced.ROUTES,
    *fit.ROUTES,
    *providers.ROUTES,
    *consumers.ROUTES,
    *usage.ROUTES,
    *changes.ROUTES,
    *openapi.ROUTES,
)
