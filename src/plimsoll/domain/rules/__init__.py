# SPDX-License-Identifier: Apache-2.0

"""The rules: each decides one kind of command. It adds effects to a draft, or returns a refusal."""
