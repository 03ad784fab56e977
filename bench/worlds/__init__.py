# SPDX-License-Identifier: Apache-2.0

"""The worlds that are measured in, as rows of the reference's schema, and their way into a database."""
