# SPDX-License-Identifier: Apache-2.0

"""Plimsoll in a cloud: a real Keystone beside it, and real clients before it. `make cloud` runs these tests."""
