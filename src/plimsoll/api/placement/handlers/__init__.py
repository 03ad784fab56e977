# SPDX-License-Identifier: Apache-2.0

"""One function per route: parse the request, call the service, build the response.

The order of these steps is visible to clients. Where the provider is looked up before the body is parsed, a bad body
for a missing provider is a 404; elsewhere it is a 400.
"""
