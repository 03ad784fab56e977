# SPDX-License-Identifier: Apache-2.0

"""Taking over a database that the reference created and filled, and handing it back.

`questions` are asked of the service that has the database, before and after each change of hands; whoever
has it next must answer them alike. `cloud` and `oldrows` are what the reference's years have left there.
"""
