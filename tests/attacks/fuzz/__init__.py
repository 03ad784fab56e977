# SPDX-License-Identifier: Apache-2.0

"""A mutation fuzzer: valid requests of every route, mutated with a seed.

The request with a number depends on the seed and that number alone, but for the generations of providers and
consumers, which are filled in when it is sent. `python -m tests.attacks.fuzz --seed S --only N` sends one again.
"""
