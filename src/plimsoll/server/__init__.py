# SPDX-License-Identifier: Apache-2.0

"""The HTTP server of `plimsoll serve`: a supervisor, worker processes, and their connections.

A worker runs everything in one thread, each connection in a greenlet of its own (gevent): the application is plain
WSGI, and whoever waits, for the database or for a commit that is shared, lets the others go on. It knows nothing of
what it serves. See docs/decisions/0009.
"""
