# SPDX-License-Identifier: Apache-2.0

"""What is measured, how, and what it must reach."""
