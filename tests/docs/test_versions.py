# SPDX-License-Identifier: Apache-2.0

"""The page of versions is up to date with the table of features."""

from tests.docs.versions import PAGE, page


def test_the_page_of_versions_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"
