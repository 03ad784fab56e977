# SPDX-License-Identifier: Apache-2.0

"""Handlers of the Plimsoll API. Each module declares the routes of its resource as ROUTES."""
