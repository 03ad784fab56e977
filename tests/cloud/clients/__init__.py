# SPDX-License-Identifier: Apache-2.0

"""Real clients, with real credentials, before Plimsoll and, for comparison, before the reference."""
