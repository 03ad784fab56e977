# SPDX-License-Identifier: Apache-2.0

"""Request bodies: the schema of each body at each version, and the conversion to values of the domain."""
