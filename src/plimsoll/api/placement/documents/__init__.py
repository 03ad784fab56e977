# SPDX-License-Identifier: Apache-2.0

"""The JSON Schemas of the documents in responses, one module per resource; a table has them by name."""
