"""How the documentation site is built: ``python -m sphinx -c docs -W --keep-going . build/site`` at the root.

The root is the source, so that a relative link works on a code host and on the site alike. Nothing is asked of the
network, neither by the build nor by the pages.
"""

import re
from typing import Any

from sphinx.ext.napoleon import Config, NumpyDocstring

import bnn

project, author, copyright = "bnn", "the bnn developers", "the bnn developers, MIT licence"
release = bnn.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_copybutton",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "bnn", "build", "dist", "experiments", "shared", "tests"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # a test runs the notebooks, and the outputs they keep are shown
nb_ipywidgets_js: dict[str, Any] = {}

default_role = "py:obj"
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request",  # scikit-learn writes them
}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
rst_prolog = "\n".join(
    f".. |{name}| replace:: {', '.join(f'``{key}``' for key in table)}"
    for name, table in {
        "rules": bnn.RULES,
        "estimates": bnn.ESTIMATES,
        "dynamics": bnn.DYNAMICS,
        "classifiers": bnn.CLASSIFIERS,
        "families": bnn.study.FAMILIES,
    }.items()
)

plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 150)]

html_theme = "furo"
html_title = f"bnn {release}"
html_static_path = ["static"]
html_extra_path = ["root"]  # leads from the root of the site to its first page
html_css_files = ["bnn.css"]
html_copy_source = html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


NUMPYDOC = Config(
    napoleon_use_rtype=False,
    napoleon_attr_annotations=False,  # descriptions begin with the dtype
    napoleon_custom_sections=[("Attributes", "params_style")],
)


def read_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Sections of numpydoc as fields; bars and stars of formulas mean themselves, but in examples and code."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``|`.*?`)", line)
            lines[i] = "".join(part if part.startswith("`") else re.sub(r"([|*])", r"\\\1", part) for part in parts)
    kind = "method" if what == "property" else what  # of a property all before a colon would be taken for its type
    lines[:] = NumpyDocstring(list(lines), NUMPYDOC, app, kind, name, thing, options).lines()


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("autodoc-process-docstring", read_docstring)
