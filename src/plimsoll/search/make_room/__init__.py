# SPDX-License-Identifier: Apache-2.0

"""Find hosts that would serve a request if the fewest consumers were moved to other hosts."""
