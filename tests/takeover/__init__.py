# SPDX-License-Identifier: Apache-2.0

"""Taking over a database that the reference created and filled, and handing it back.

`scenario` sends the same GET requests (`read_requests`) before and after each takeover; both services must return the
same responses. `cloud` creates rows through the API, `legacy_rows` inserts rows that older releases wrote.
"""
