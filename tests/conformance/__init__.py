# SPDX-License-Identifier: Apache-2.0

"""Run the functional cases that ship with openstack-placement, unmodified, against Plimsoll.

Needs an interpreter with both openstack-placement (for its cases and fixtures) and Plimsoll:
`python -m tests.conformance`.
"""
