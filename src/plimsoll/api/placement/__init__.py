# SPDX-License-Identifier: Apache-2.0

"""The Placement API over HTTP: routes, request bodies, queries, responses. Only this package uses microversions."""
