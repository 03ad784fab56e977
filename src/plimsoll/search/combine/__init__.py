# SPDX-License-Identifier: Apache-2.0

"""The combination of the providers of a tree into candidates."""
