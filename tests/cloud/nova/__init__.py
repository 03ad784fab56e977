# SPDX-License-Identifier: Apache-2.0

"""Plimsoll with a real nova. `make nova` runs these tests."""
