# SPDX-License-Identifier: Apache-2.0

"""All routes of the Plimsoll API."""

from __future__ import annotations

from plimsoll.api.v1.handlers import openapi, providers
from plimsoll.api.v1.route import V1Route

ROUTES: tuple[V1Route, ...] = (*providers.ROUTES, *openapi.ROUTES)
