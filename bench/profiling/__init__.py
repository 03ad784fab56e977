# SPDX-License-Identifier: Apache-2.0

"""Where the time of a request goes."""
