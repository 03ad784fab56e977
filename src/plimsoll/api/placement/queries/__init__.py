# SPDX-License-Identifier: Apache-2.0

"""Query strings: parsed and validated by the rules of each version, and converted to requests to the service."""
