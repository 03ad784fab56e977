# SPDX-License-Identifier: Apache-2.0

"""Databases of each revision of the Placement schema since Stein, made by the reference's own migrations.

`reference_worker` runs in the environment of the reference, once for all databases; `reference` is its client. `rows`
fills a database as old releases did.
"""
