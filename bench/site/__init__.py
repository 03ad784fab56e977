# SPDX-License-Identifier: Apache-2.0

"""Databases and services on this machine for the time of a measurement."""
