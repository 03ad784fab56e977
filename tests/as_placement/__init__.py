# SPDX-License-Identifier: Apache-2.0

"""Tests of the distribution `plimsoll-as-placement`, compared with openstack-placement."""
