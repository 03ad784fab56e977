# SPDX-License-Identifier: Apache-2.0

"""One thin function per route: read what was sent, ask the service, show what it says.

The order of steps is visible to clients. Where the provider is looked up before the body is read, a bad body for a
provider that does not exist is a 404; elsewhere it is a 400.
"""
