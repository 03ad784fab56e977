# SPDX-License-Identifier: Apache-2.0

"""Real clients with real credentials, used with Plimsoll and, for comparison, with the reference."""
