# SPDX-License-Identifier: Apache-2.0

"""What differs between databases, one module each. Everything else in storage is the same SQL for all."""
