# SPDX-License-Identifier: Apache-2.0

"""The commands, modules and fixtures of openstack-placement, implemented by Plimsoll.

A thin layer: it accepts the arguments of Placement's commands and functions, and calls Plimsoll. It does not run if
openstack-placement is installed too, because both install the package `placement`: see `alone`.
"""
