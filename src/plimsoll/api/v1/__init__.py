# SPDX-License-Identifier: Apache-2.0

"""The Plimsoll API, version 1: everything below /plimsoll/v1/."""
