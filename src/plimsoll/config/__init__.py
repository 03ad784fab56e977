# SPDX-License-Identifier: Apache-2.0

"""The settings: options, files, logging."""
