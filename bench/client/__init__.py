# SPDX-License-Identifier: Apache-2.0

"""The client: a raw socket, the units of work it runs, and its own cost."""
