# SPDX-License-Identifier: Apache-2.0

"""The rules of the trade, pure: what fits, what may change, and what is refused.

Nothing here reads a clock, a database or a request. A decision takes the world as it is and returns
either a plan (the effects that make the next world) or a refusal (the facts of why not).
"""
