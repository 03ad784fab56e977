# SPDX-License-Identifier: Apache-2.0

"""Profile of a request by stages."""
