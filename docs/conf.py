"""Sphinx's settings: ``make docs`` builds the site into ``build/site``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import pellucid  # noqa: E402

project, author, release = "Pellucid", "The Pellucid developers", pellucid.__version__
copyright = "the Pellucid developers, BSD-3-Clause"  # noqa: A001  (Sphinx's name)

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "site_pages",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["site_pages", "generated/examples/*.ipynb", "generated/examples/*.py", "**/sg_execution_times.rst"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # what a parameter may be is said in words
autodoc_default_options = {"members": True, "inherited-members": False}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "generated/examples",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py|figures_of_the_notes\.py",  # the latter draws sixty pictures: see figures.md
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}
suppress_warnings = ["config.cache"]  # functions among the settings above

html_theme = "pydata_sphinx_theme"
html_title = f"Pellucid {release}"
html_math_renderer = "plain_mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# six hundred names beside six hundred pages would be most of the site: they are found by searching
html_sidebars = {"generated/syllabus": [], "generated/api/*": []}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

nitpick_ignore_regex = [("py:obj", r"\w+_")]  # numpydoc links attributes that are properties by their bare names
