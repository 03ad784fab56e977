# SPDX-License-Identifier: Apache-2.0

"""The functional cases that ship with openstack-placement, run unmodified against Plimsoll.

Runs in an interpreter where both openstack-placement (for its cases and the worlds they need) and
Plimsoll are installed: `python -m tests.conformance`.
"""
