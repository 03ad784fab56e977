# SPDX-License-Identifier: Apache-2.0

"""Explanations: why a search has candidates, or none."""
