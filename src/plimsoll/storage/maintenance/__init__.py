# SPDX-License-Identifier: Apache-2.0

"""Checks and repairs of a database, for the command line."""
