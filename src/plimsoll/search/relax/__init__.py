# SPDX-License-Identifier: Apache-2.0

"""Find the smallest changes of a request that give candidates."""
