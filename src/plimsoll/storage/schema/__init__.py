# SPDX-License-Identifier: Apache-2.0

"""The tables of a database: are they there, and how they are created and upgraded."""
