# SPDX-License-Identifier: Apache-2.0

"""Fixtures that tests of other services use. They need `pip install plimsoll-as-placement[testing]`."""
