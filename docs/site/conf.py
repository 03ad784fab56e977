# SPDX-License-Identifier: Apache-2.0

"""Sphinx configuration of the documentation site. `make site` builds it into build/site.

The source directory is the root of the repository, so that links between pages are the same here and in a checkout.
"""

project = "Plimsoll"
author = "the Plimsoll developers"
project_copyright = "the Plimsoll developers, Apache-2.0"

extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "README.md",
    "src/plimsoll/search/README.md",
    "tests/simulation/README.md",
]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = True
html_theme = "furo"
html_title = "Plimsoll"
html_static_path = ["custom.css"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_copy_source = False
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
html_extra_path = ["start"]
