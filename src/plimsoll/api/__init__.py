# SPDX-License-Identifier: Apache-2.0

"""The APIs that the service has."""
