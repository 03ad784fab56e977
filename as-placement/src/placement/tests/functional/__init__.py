# SPDX-License-Identifier: Apache-2.0

"""The package from which tests of other services import fixtures."""
