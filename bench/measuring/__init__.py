# SPDX-License-Identifier: Apache-2.0

"""The workloads, their measurement, and their goals."""
