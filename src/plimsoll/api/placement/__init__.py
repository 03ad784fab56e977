# SPDX-License-Identifier: Apache-2.0

"""HTTP: what clients send and see. Versions are data here, and the service below knows nothing of them."""
