# SPDX-License-Identifier: Apache-2.0

"""What clients send: the shape of each body at each version, and what it says, freed from versions."""
