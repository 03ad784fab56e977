# SPDX-License-Identifier: Apache-2.0

"""Metrics in the formats of Prometheus: counters of this process and of all workers, gauges, and their text form."""
