# SPDX-License-Identifier: Apache-2.0

"""JSON Schemas of the documents of the Plimsoll API."""
