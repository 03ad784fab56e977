# SPDX-License-Identifier: Apache-2.0

"""The client: a raw socket, the work that is done through it, and what that costs by itself."""
