# SPDX-License-Identifier: Apache-2.0

"""`placement.wsgi.api:application`, for WSGI servers: loaded when this module is imported."""

from __future__ import annotations

from placement.wsgi import init_application

application = init_application()
