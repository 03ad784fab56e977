# SPDX-License-Identifier: Apache-2.0

"""Plimsoll under the names of openstack-placement, for tools that know the service by those.

A thin shell: it takes what Placement's commands and functions take, and has Plimsoll do it. Where Placement itself is
installed too there would be two packages of one name, and nobody could say which of them runs: see `alone`.
"""
