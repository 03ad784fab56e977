# SPDX-License-Identifier: Apache-2.0

"""The list of all modules in ARCHITECTURE.md is up to date, and each module begins with a sentence."""

from tests.docs.modules import PAGE, first_line, modules, page


def test_the_list_of_modules_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_the_first_line_of_each_module_is_a_sentence() -> None:
    assert not [path for path in modules() if not first_line(path).endswith((".", ":"))]
