# SPDX-License-Identifier: Apache-2.0

"""Faster ways to send statements to a server than its driver has."""
