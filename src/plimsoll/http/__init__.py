# SPDX-License-Identifier: Apache-2.0

"""HTTP parts that do not depend on Placement: responses, error documents, middleware."""
