# SPDX-License-Identifier: Apache-2.0

"""The rules of Placement as pure functions: capacity, trees, claims, generations, refusals.

No function here reads a clock, a database or a request. A decision takes the current world and returns either
effects, which lead to the next world, or a refusal with its facts.
"""
