# SPDX-License-Identifier: Apache-2.0

"""The state: decide in memory, record in SQL, follow what others recorded."""
