# SPDX-License-Identifier: Apache-2.0

"""WSGI applications that wrap another one."""
