# SPDX-License-Identifier: Apache-2.0

"""Ways to send statements to a server that are faster than those of its driver."""
