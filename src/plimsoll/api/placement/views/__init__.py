# SPDX-License-Identifier: Apache-2.0

"""Response documents at each version. Pure functions, except for caches of encoded JSON."""
