# SPDX-License-Identifier: Apache-2.0

"""Plimsoll under the names of openstack-placement: what `plimsoll-as-placement` installs, beside the real thing."""
