# SPDX-License-Identifier: Apache-2.0

"""The HTTP conformance table: requests, the responses that RFC 9110 and 9112 allow, and the state of the connection."""
