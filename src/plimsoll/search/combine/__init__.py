# SPDX-License-Identifier: Apache-2.0

"""Combine the providers of each tree into choices: one provider per slot."""
