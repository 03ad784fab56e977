# SPDX-License-Identifier: Apache-2.0

"""HTTP without anything of Placement: responses, error documents, middleware."""
