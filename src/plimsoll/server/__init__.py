# SPDX-License-Identifier: Apache-2.0

"""The HTTP server of `plimsoll serve`: a supervisor, worker processes, and their connections.

A worker runs everything in one thread, each connection in a greenlet of its own (gevent): the application is plain
WSGI, and while one greenlet waits for the database or a group commit, the others run. The server does not depend on
the application that it serves. See docs/decisions/0009.
"""
