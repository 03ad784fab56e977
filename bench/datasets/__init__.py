# SPDX-License-Identifier: Apache-2.0

"""Datasets of the benchmarks, as rows of the reference's schema, and their loading into a database."""
