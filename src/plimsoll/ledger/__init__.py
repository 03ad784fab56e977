# SPDX-License-Identifier: Apache-2.0

"""The state: decide commands in memory, write their effects to SQL, follow the change log of other processes."""
