# SPDX-License-Identifier: Apache-2.0

"""OpenAPI documents of the Placement API, one per microversion, and of the Plimsoll API, built from their routes."""
