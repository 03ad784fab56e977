# SPDX-License-Identifier: Apache-2.0

"""The HTTP APIs of the service: Placement, and the health probe."""
