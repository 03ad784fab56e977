# SPDX-License-Identifier: Apache-2.0

"""How the requests of a process share its thread, its permits and its memory."""
