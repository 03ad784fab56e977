# SPDX-License-Identifier: Apache-2.0

"""Plimsoll with a real Keystone and real clients. `make cloud` runs these tests."""
