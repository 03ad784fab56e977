# SPDX-License-Identifier: Apache-2.0

"""The place where tests of other services look for fixtures."""
