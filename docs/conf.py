"""Settings of the site: `make docs-html` builds it from these folders, without a network, to docs/_build/html.

The Markdown documents are pages as they are. Documents outside docs, such as config/README.md, become pages by `PAGES`.
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import lssc  # noqa: E402

project, author, release = "lssc", "the authors of lssc", lssc.__version__
copyright = author
extensions = [
    *("sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser", "sphinx_gallery.gen_gallery"),
    *("mathml", "documents", "commands"),
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/*.py", "gallery/*.ipynb"]
nitpicky = True
smartquotes = False

# Markdown: sections can be linked to as on GitHub, and $...$ is an equation.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# API pages: numpydoc states the types, so signatures need none.
autodoc_typehints = "none"
# Methods of lssc's own classes; those of these bases are in scikit-learn's documentation.
SKLEARN_BASES = (
    "BaseEstimator, ClusterMixin, TransformerMixin, ClassNamePrefixFeaturesOutMixin, _MetadataRequester, "
    "_SetOutputMixin"
)
autodoc_default_options = {"members": True, "inherited-members": SKLEARN_BASES}
autosummary_generate = True
numpydoc_show_class_members = False
templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    # The order of reading, which the file names state.
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("lssc",),
    "backreferences_dir": "gallery/using",
    "reference_url": {"lssc": None},
    "download_all_examples": False,
    "show_signature": False,
    "thumbnail_size": (480, 260),
    "abort_on_example_error": True,
    # Its page would load scripts from the network.
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "lssc"
html_static_path = ["_static"]
html_css_files = ["lssc.css"]
html_favicon = "_static/favicon.svg"
# Light or dark, as the browser prefers.
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages of one level have nothing to list at the left.
html_sidebars = {"index": [], "results": [], "cluster": [], "command_line": []}

# Examples draw to files, on one thread.
os.environ["MPLBACKEND"] = "agg"
