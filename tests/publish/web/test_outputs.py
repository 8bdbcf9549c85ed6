"""Pictures of notebooks as files and HTML."""

from __future__ import annotations

import json
import re

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.publish.web.outputs import Pictures, alt_text, is_picture


def test_a_picture_becomes_a_file_and_keeps_its_words(tmp_path, picture):
    html = Pictures(tmp_path / "p", "../p/").html(picture())
    name = re.search(r'src="\.\./p/([0-9a-f]{16}\.svg)"', html)[1]
    assert (tmp_path / "p" / name).read_text("utf-8").startswith("<svg")
    assert 'alt="Line chart of words against texts, log axes. The line is straight &amp; ' in html
    assert "script" not in html


def test_the_same_picture_is_one_file_and_png_serves_where_there_is_no_svg(tmp_path, picture):
    pictures, output = Pictures(tmp_path, ""), picture()
    assert pictures.html(output) == pictures.html(output) and len(list(tmp_path.iterdir())) == 1
    del output["data"]["image/svg+xml"]
    assert ".png" in pictures.html(output) and len(list(tmp_path.glob("*.png"))) == 1


def test_an_interactive_figure_carries_its_data_and_cannot_end_its_script(tmp_path, picture):
    html = Pictures(tmp_path, "").html(picture(live=True))
    drawing = re.search(r'<script type="application/json">(.*?)</script>', html)[1]
    drawn = json.loads(drawing)
    assert drawn["data"][0]["name"] == "</script><b>" and [
        frame["name"] for frame in drawn["frames"]] == ["a", "b"] and html.count("</script>") == 1
    assert 'role="group" aria-label="Line chart' in html and "<img" in html


def test_a_picture_without_words_is_refused_and_a_table_is_no_picture(tmp_path, picture, table):
    output = picture()
    output["metadata"] = {}
    assert is_picture(output) and alt_text(output) == ""
    with pytest.raises(DamagedFile, match="no alt text"):
        Pictures(tmp_path, "").html(output)
    assert not is_picture(table) and not is_picture({"output_type": "stream", "text": "x"})
