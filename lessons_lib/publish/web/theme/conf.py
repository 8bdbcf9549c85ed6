"""Sphinx's settings for the site of the course, whose sources `sources` writes."""

project = "Embeddings, measured"
html_title = project
extensions = ["myst_nb"]
html_theme = "sphinx_book_theme"
language = "en"

nb_execution_mode = "off"  # the committed outputs are shown; no kernel is started
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
# several modules have a class of one name; a link goes to the nearest
suppress_warnings = ["ref.python"]
exclude_patterns = ["_static"]

html_static_path = []  # given on the command line: the scripts lie with the sources
mathjax_path = "tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}         # it would load more
html_css_files = ["course.css"]
html_js_files = [("figures.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
templates_path = ["templates"]
html_additional_pages = {"search": "search.html"}
html_context = {"default_mode": "auto"}          # light or dark, as the reader's system has it
html_sidebars = {"**": ["navbar-logo.html", "search-field.html", "sbt-sidebar-nav.html"]}
html_theme_options = {"use_download_button": False, "use_fullscreen_button": False,
                      "show_toc_level": 2, "use_source_button": False, "home_page_in_toc": True,
                      "show_navbar_depth": 1, "navigation_with_keys": False, "navbar_start": [],
                      "navbar_center": [], "navbar_end": [], "navbar_persistent": [],
                      "footer_content_items": []}


def _name_folds_by_their_text(app, page, template, context, doctree):
    """Take away the label that myst-nb gives each fold: a screen reader says what is written."""
    if "body" in context:
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")


def _search_by_our_own_index(app):
    """Leave out Sphinx's index: it knows no Chinese, and shows no excerpts on pages from files."""
    app.builder.search = False


def setup(app):
    """Sphinx calls it: pages are mended as they are made."""
    app.connect("builder-inited", _search_by_our_own_index)
    app.connect("html-page-context", _name_folds_by_their_text)
