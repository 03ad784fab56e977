# SPDX-License-Identifier: Apache-2.0

"""Query strings, read by the rules of each version and turned into what is asked of the service."""
