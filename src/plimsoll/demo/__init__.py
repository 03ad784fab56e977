# SPDX-License-Identifier: Apache-2.0

"""A made-up cloud for `plimsoll demo`: hosts, consumers, trouble and traffic, sent as requests to a service.

Everything but the live traffic is computed from a seed: equal options give equal requests. It uses nothing of the
service.
"""
