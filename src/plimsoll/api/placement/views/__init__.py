# SPDX-License-Identifier: Apache-2.0

"""What clients see: documents as each version shows them. Pure, but for pieces that are kept once encoded."""
