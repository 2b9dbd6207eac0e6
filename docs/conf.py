"""How Sphinx makes the site (`make docs`)."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "ftlab"
author = "the ftlab authors"
copyright = f"{author}; MIT or Apache-2.0"

extensions = ["myst_nb", "ftlab_catalogue"]
if importlib.util.find_spec("ftlab"):
    # The Python API is documented where the package is installed.
    extensions += ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
    napoleon_google_docstring = False
    autodoc_typehints = "description"
    autodoc_member_order = "bysource"

exclude_patterns = ["_ext"]

# The pages read well as plain Markdown, too: links between them are links to files and headings.
myst_heading_anchors = 4

nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent.parent / "target" / "docs" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 120

html_theme = "furo"
html_title = "ftlab"
html_static_path = ["_static"]
html_css_files = ["ftlab.css"]
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
