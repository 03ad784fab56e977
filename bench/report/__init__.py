# SPDX-License-Identifier: Apache-2.0

"""The results as tables and pictures."""
