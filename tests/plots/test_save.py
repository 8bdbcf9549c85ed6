"""Files: alt text refused when empty or long, SVG or PNG by size, the same bytes on every run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from lessons_lib.plots import checked_alt, count_marks, save, svg_text
from lessons_lib.plots.save import GLYPH, GLYPH_UNIT, MAX_BYTES, MAX_MARKS, _short_glyph

from .conftest import draw

ALT = "Line chart of counts against rank, both axes logarithmic, falling straight"


def scatter(n: int):
    points = np.random.default_rng(0).normal(size=(n, 2))
    return draw("document_map", points=points, labels=["all"] * n, names=None)


def blank(**options):
    """A figure and its axes without the course's functions."""
    from matplotlib.figure import Figure

    fig = Figure(**options)
    return fig, fig.subplots()


@pytest.mark.parametrize("alt", ["", "   ", None, 5, "a b c d", " ".join(["word"] * 41),
                                 *(f"one two three four fi{bad}ve"
                                   for bad in ("\x00", "\x1b", "\ud800", "\uffff"))])
def test_an_alt_text_that_does_not_serve_is_refused_and_nothing_is_written(tmp_path, alt):
    with pytest.raises(ValueError, match=r"alt=.* (words; expected 5 to 40|which no SVG file can)"):
        save(scatter(5), tmp_path / "figure.svg", alt)
    assert list(tmp_path.iterdir()) == []


def test_alt_text_comes_back_on_one_line_with_5_to_40_words():
    assert checked_alt(" one two\nthree  four five ") == "one two three four five"
    assert checked_alt(" ".join(["word"] * 40))


def test_another_process_gives_the_same_bytes(tmp_path):
    code = ("import sys, lessons_lib.plots as p; p.save(p.code_tree({'a': '0', 'b': '10', 'c': "
            "'11'}, {'a': 5, 'b': 3, 'c': 2}, title='x'), sys.argv[1], 'A tree of three words x')")
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "other/f")], check=True,
                   env={**os.environ, "PYTHONHASHSEED": "1"})
    fig = draw("code_tree", codes={"a": "0", "b": "10", "c": "11"}, marked=None, title="x",
               counts={"a": 5, "b": 3, "c": 2})
    own = save(fig, tmp_path / "f", "A tree of three words x")
    assert own.read_bytes() == (tmp_path / "other/f.svg").read_bytes()


def test_every_figure_is_small_and_well_formed_with_its_alt_text(any_figure, tmp_path):
    alt = "Chart & <axes> that show the finding"
    path = save(any_figure, tmp_path / "figure", alt)
    few = count_marks(any_figure) <= MAX_MARKS
    assert path.stat().st_size <= MAX_BYTES and path.suffix == (".svg" if few else ".png")
    if few:
        svg = path.read_text(encoding="utf-8")
        assert ET.fromstring(svg).get("aria-label") == alt and 'role="img"' in svg
        assert not re.search(r"<script|Matplotlib|20\d\d-\d\d-\d\d|<!--", svg)


def test_shortening_keeps_every_mark_and_moves_none_by_more_than_a_hundredth_of_a_point():
    fig = scatter(50)
    uses = re.findall(r'<use [^>]*x="([-\d.]+)" y="([-\d.]+)"', svg_text(fig, ALT))
    exact = fig.axes[0].lines[0].get_xydata()
    exact = fig.axes[0].transData.transform(exact) / fig.dpi * 72
    exact[:, 1] = fig.get_figheight() * 72 - exact[:, 1]
    assert np.abs(np.array(uses[-50:], dtype=float) - exact).max() < 0.011


def test_a_letter_keeps_its_outline_to_half_a_unit():
    exact = ("M 2034 4250 Q 1547 4250 1301 3770 L 1056 2328 Q 1056 1369 1301 889 z "
             "M 700 -91 L 233 129 z ")
    glyph = GLYPH.sub(_short_glyph, f'<path id="D13" d="{exact}" transform="scale(0.015625)"/>')
    here, start, points = np.zeros(2), np.zeros(2), []
    for command, numbers in re.findall(r"([mlqz])([^mlqz]*)", re.search(r' d="([^"]*)', glyph)[1]):
        steps = np.array(re.findall(r"-?\d+", numbers), dtype=float).reshape(-1, 2)
        points += list(here + steps)
        here = start if command == "z" else points[-1]
        start = here if command == "m" else start
    wanted = np.array(re.findall(r"-?\d+", exact), dtype=float).reshape(-1, 2) / GLYPH_UNIT
    assert np.abs(np.array(points) - wanted).max() <= 0.5
    assert f"scale({GLYPH_UNIT / 64:g})" in glyph


def test_an_outline_that_is_not_understood_stays_as_it_is():
    odd = '<path id="D13" d="M 1 2 A 3 4 5 6 7 8 9 z" transform="scale(0.015625)"/>'
    assert GLYPH.sub(_short_glyph, odd) == odd


def test_more_than_2000_marks_become_a_png(tmp_path):
    few, many = scatter(MAX_MARKS // 4), scatter(MAX_MARKS + 1)
    assert count_marks(few) < MAX_MARKS < count_marks(many)
    assert save(few, tmp_path / "few.png", ALT).name == "few.svg"
    path = save(many, tmp_path / "many.svg", ALT)
    assert path.name == "many.png" and path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < MAX_BYTES


def test_marks_count_points_bars_cells_and_texts():
    fig, ax = blank()
    ax.plot([1, 2, 3], [1, 2, 3])
    ax.bar([1, 2], [3, 4])
    ax.scatter([1, 2, 3, 4], [1, 2, 3, 4])
    ax.text(0, 0, "x")
    assert count_marks(fig) == 3 + 2 + 4 + 1
    ax.pcolormesh(np.zeros((5, 7)))
    assert count_marks(fig) == 10 + 35


def test_a_file_beyond_100_kB_is_refused_with_bytes_and_remedy(tmp_path):
    fig, ax = blank(figsize=(5, 5))
    ax.imshow(np.random.default_rng(0).random((450, 450)), interpolation="nearest")
    with pytest.raises(ValueError, match=r"noise.png has [\d,]+ bytes .*<= 100,000.*a sample"):
        save(fig, tmp_path / "noise", ALT)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_matplotlib_figure_is_named(tmp_path):
    with pytest.raises(TypeError, match="fig=5 is int; expected a matplotlib figure"):
        save(5, tmp_path / "x", ALT)


def test_names_with_dots_do_not_collide(tmp_path):
    names = [save(scatter(5), tmp_path / name, ALT).name
             for name in ("fig1.1", "fig1.2", "fig1.3.SVG")]
    assert names == ["fig1.1.svg", "fig1.2.svg", "fig1.3.svg"]


@pytest.mark.parametrize("name", ["", ".", "sub", "sub/", ".svg", "sub/.png"])
def test_a_folder_or_an_empty_name_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match="path=.*expected the file's name"):
        save(scatter(5), name, ALT)
    assert [path.name for path in tmp_path.rglob("*")] == ["sub"]
