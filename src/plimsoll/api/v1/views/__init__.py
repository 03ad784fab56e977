# SPDX-License-Identifier: Apache-2.0

"""JSON of the responses of the Plimsoll API."""
