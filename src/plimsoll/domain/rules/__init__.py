# SPDX-License-Identifier: Apache-2.0

"""The rules: each decides about a command and returns effects or a refusal."""
