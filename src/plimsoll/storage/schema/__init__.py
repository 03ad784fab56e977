# SPDX-License-Identifier: Apache-2.0

"""Inspect, create and upgrade the tables of a database."""
