"""Sphinx configuration of the site (`make docs`)."""

import hashlib
import sys
from pathlib import Path

import ftlab

DOCS = Path(__file__).parent
OUTPUT = DOCS.parent / "target" / "docs"

sys.path.insert(0, str(DOCS / "_ext"))


def package_digest():
    """A digest of all files of the Python package, including the compiled one."""
    digest = hashlib.sha256()
    for path in sorted(Path(ftlab.__file__).parent.rglob("*.*")):
        if path.suffix != ".pyc":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


project = "ftlab"
author = "the ftlab authors"
copyright = f"{author}; MIT or Apache-2.0"

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "ftlab_catalogue"]

# The docstrings of the Python package describe types in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Links into the documentation of other packages would need the network.
nitpick_ignore_regex = [(r"py:.*", r"matplotlib\..*")]

# Notebooks to download are files, not pages.
exclude_patterns = ["_ext", "generated/notebooks"]

# The pages can be read as plain Markdown too: links between them are links to files and headings.
myst_heading_anchors = 4

# Notebooks are executed again when they or the package have changed.
nb_execution_mode = "cache"
nb_execution_cache_path = str(OUTPUT / "notebooks" / package_digest())
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
# Progress bars.
nb_output_stderr = "remove"

html_theme = "furo"
html_title = "ftlab"
html_static_path = ["_static"]
html_css_files = ["ftlab.css"]
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
