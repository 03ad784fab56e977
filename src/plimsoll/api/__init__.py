# SPDX-License-Identifier: Apache-2.0

"""The HTTP APIs of the service: Placement, the Plimsoll API, their OpenAPI documents, the console, metrics and probes."""
