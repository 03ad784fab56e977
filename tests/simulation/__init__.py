# SPDX-License-Identifier: Apache-2.0

"""Several simulated processes run the real ledger on one simulated database, in an order that a seed decides.

See README.md in this folder.
"""
