# SPDX-License-Identifier: Apache-2.0

"""The HTTP conformance table: what is sent, what RFC 9110 and 9112 let a server answer, and whether the connection stays."""
