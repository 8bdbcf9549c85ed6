"""What a lesson shows: figures with alt text, tables and code; the same bytes on every run."""

from __future__ import annotations

import base64
import functools
import io
import json
from xml.etree import ElementTree

import pytest
from PIL import Image
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import PROJECT, Composed, Estimator, checks, output_folder
from lessons_lib.lesson.figures import FIGURES_VARIABLE, PLOTLY, figure_bundle
from lessons_lib.lesson.sources import source_markdown
from lessons_lib.lesson.tables import Table

from .conftest import ALT, line


def test_a_figure_is_shown_as_svg_with_a_label_and_as_png_and_kept(lesson, displayed):
    lesson.show(line(), id="rising", alt=ALT)
    data, keywords = displayed[0]
    assert data["image/svg+xml"].startswith("<svg ")
    assert f'role="img" aria-label="{ALT}"' in data["image/svg+xml"]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == ALT
    size = {"width": 384, "height": 288}         # in the page; the PNG itself is finer
    assert Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).size == (576, 432)
    described = {"image/svg+xml": {"alt": ALT}, "image/png": {"alt": ALT} | size}
    assert keywords == {"raw": True, "metadata": described}
    assert {p.name for p in (output_folder() / "figures").iterdir()} == {"rising.svg"}


def test_two_runs_give_the_same_bytes():
    first, second = (figure_bundle(line(), id="rising", alt=ALT) for _ in range(2))
    assert first == second and "date" not in first[0]["image/svg+xml"].lower()


def test_more_than_2000_marks_are_shown_as_png_alone():
    assert "image/svg+xml" in figure_bundle(line(2000), id="many", alt=ALT)[0]
    many = figure_bundle(line(2001), id="many", alt=ALT)[0]
    assert set(many) == {"image/png", "text/plain"}
    assert Image.open(io.BytesIO(base64.b64decode(many["image/png"]))).size == (768, 576)


def test_alt_text_is_escaped_in_the_svg():
    alt = 'Bars of "a" & <b> counts, the first is longest'
    svg = figure_bundle(line(), id="bars", alt=alt)[0]["image/svg+xml"]
    assert "&quot;a&quot; &amp; &lt;b&gt;" in svg


def test_an_interactive_figure_carries_its_static_twin(lesson, displayed):
    import plotly.graph_objects as go

    lesson.show(go.Figure(go.Scatter(x=[1], y=[3])), static=line(), id="points", alt=ALT)
    data, keywords = displayed[0]
    assert data[PLOTLY]["data"][0]["type"] == "scatter" and "image/svg+xml" in data
    assert keywords["metadata"][PLOTLY] == {"alt": ALT}
    assert "image/png" not in data, "JupyterLab would show it until a mouse passes, and jump then"
    json.dumps(data)


def test_the_twin_of_many_marks_is_a_png_inside_of_an_svg():
    import plotly.graph_objects as go

    data, _, parts = figure_bundle(go.Figure(), static=line(2001), id="points", alt=ALT)
    assert set(data) == {PLOTLY, "image/svg+xml", "text/plain"} and set(parts) == {"image/png"}
    root = ElementTree.fromstring(data["image/svg+xml"])
    address = root[0].attrib["href"].removeprefix("data:image/png;base64,")
    assert base64.b64decode(address) == parts["image/png"]
    assert root.attrib["aria-label"] == ALT and root.attrib["width"] == "384"


def test_a_build_collects_figures_in_its_own_folder(lesson, displayed, tmp_path, monkeypatch):
    monkeypatch.setenv(FIGURES_VARIABLE, str(tmp_path / "drawn"))
    lesson.show(line(), id="rising", alt=ALT)
    drawn = (tmp_path / "drawn" / "rising.svg").read_text(encoding="utf-8")
    assert drawn == displayed[0][0]["image/svg+xml"]
    assert not (output_folder() / "figures").exists()


def test_a_shown_figure_is_closed(lesson, displayed):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots()
    ax.plot([1, 2])
    lesson.show(fig, id="rising", alt=ALT)
    assert fig.number not in plt.get_fignums()


def test_numbers_of_a_table_are_formatted_and_missing_cells_are_dashes():
    table = Table([["a", 12345, 0.123456], {"w": "b", "n": None, "x": 2.0}], ["w", "n", "x"],
                  "Counts")
    assert table.to_text().splitlines() == ["Counts", "w       n       x", "-  ------  ------",
                                            "a  12,345  0.1235", "b       –       2"]


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_cell_can_bring_markup(cell, head):
    html = Table([[cell]], [head], cell).to_html()
    assert html.count("<") == Table([["a"]], ["b"], "c" if cell else "").to_html().count("<")


def test_a_table_is_shown_as_html_with_scope_and_caption_and_as_text(lesson, displayed):
    lesson.table([["<b>", 1]], ["word", "count"], "Words")
    bundle = displayed[0][0]._repr_mimebundle_()
    html = bundle["text/html"]
    assert '<th scope="col" style="text-align:right">count</th>' in html
    assert "<caption>Words</caption>" in html and "&lt;b&gt;" in html
    assert bundle["text/plain"].startswith("Words")


def test_code_is_shown_as_markdown_with_its_relative_path(lesson, displayed):
    lesson.source(checks.check_seed)
    data, keywords = displayed[0]
    text = data["text/markdown"]
    assert text == data["text/plain"] == source_markdown(checks.check_seed) and keywords["raw"]
    assert text.startswith("`lessons_lib/core/checks.py`\n\n```python\ndef check_seed(value: obj")
    assert str(PROJECT) not in text


@pytest.mark.parametrize("thing", [Estimator, Composed.encode, Composed.name, checks,
                                   functools.wraps(checks.check_seed)(lambda value: value)])
def test_classes_methods_properties_modules_and_wrapped_functions_have_a_source(thing):
    assert source_markdown(thing).startswith("`lessons_lib/core/")


def test_docstrings_can_be_left_out():
    short = source_markdown(Composed, docstring=False)
    assert '"""' not in short and "def encode(" in short
    assert len(short) < len(source_markdown(Composed))


def test_code_that_holds_a_fence_gets_a_longer_one_and_other_code_names_its_module():
    def fenced() -> str:
        return "```"

    assert source_markdown(fenced).count("````") == 2
    assert source_markdown(json.dumps).startswith("`json (not of this course)`")
