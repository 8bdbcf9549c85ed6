"""The clean text of the dump in gensim's wheel, and a cache that costs nothing when it is lost or
damaged."""

from __future__ import annotations

import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lessons_lib.core import cache_folder
from lessons_lib.datasets import load, wikipedia
from lessons_lib.datasets.wikipedia import clean_line

pytestmark = pytest.mark.usefixtures("no_data")


@pytest.fixture
def fresh(monkeypatch):
    """An extraction that takes no time, and how often it was made."""
    made: list[object] = []

    def extract(dump):
        made.append(dump)
        return {"texts": ["Fresh text."], "titles": ["Fresh"]}

    monkeypatch.setattr(wikipedia, "_extracted", extract)
    return made


@pytest.fixture(scope="module")
def extracted(tmp_path_factory):
    """The sample, and the cache folder it was kept in."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("extracted")
        patch.setenv("LESSONS_CACHE", str(folder))
        yield load("wikipedia-sample"), folder


def test_the_sample_has_106_titled_articles_without_markup_and_is_cached(extracted, monkeypatch):
    sample, folder = extracted
    assert len(sample) == 106 == len(sample.titles)
    assert 440_000 < sum(len(text.split()) for text in sample) < 465_000
    start = "Anarchism is a political philosophy that advocates self-governed societies based on "
    assert sample[sample.titles.index("Anarchism")].startswith(start)
    lines = [line for text in sample for line in text.split("\n")]
    assert not [line for line in lines if line.startswith(("=", "* ", "|"))]
    assert not [line for line in lines for mark in ("''", "[[", "{{") if mark in line]
    ends = [bool(re.search(r"[.!?][\"')”]?$", line)) for line in lines]
    assert sum(ends) > 0.5 * len(lines)
    monkeypatch.setenv("LESSONS_CACHE", str(folder))
    monkeypatch.setitem(sys.modules, "gensim.corpora.wikicorpus", None)  # importing it now fails
    second = load("wikipedia-sample")
    assert second.texts == sample.texts and second.titles == sample.titles


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"texts": [], "titles": []}',
                                    '{"texts": ["a"], "titles": []}', '{"texts": 3, "titles": 3}'])
def test_F03_a_damaged_cache_is_made_anew(fresh, damage):
    load("wikipedia-sample")
    kept = next((cache_folder() / "derived").glob("wikipedia-*.json"))
    kept.write_text(damage)
    assert load("wikipedia-sample").texts == ["Fresh text."] and len(fresh) == 2
    assert json.loads(kept.read_text())["titles"] == ["Fresh"]


def test_4_6_two_lessons_that_need_the_sample_at_once_clean_it_once(monkeypatch, fresh):
    quick = wikipedia._extracted
    monkeypatch.setattr(wikipedia, "_extracted", lambda dump: time.sleep(0.3) or quick(dump))
    with ThreadPoolExecutor(2) as both:  # each call opens its own lock, as a process does
        loaded = list(both.map(load, ["wikipedia-sample"] * 2))
    assert len(fresh) == 1 and [documents.titles for documents in loaded] == [["Fresh"]] * 2


def test_F16_a_cache_that_cannot_be_written_costs_only_time(monkeypatch, tmp_path, fresh):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path / "file" / "below a file"))
    assert load("wikipedia-sample").titles == ["Fresh"]


@pytest.mark.parametrize("line, clean", [
    ("'''Bold''' words are ''here'' in one line.", "Bold words are here in one line."),
    ("* [x] is an item of a list with words", "[x] is an item of a list with words"),
    ("The word (; , ) has lost its empty brackets", "The word has lost its empty brackets"),
    ("A reading ( , from Greek ) before the text .", "A reading (from Greek) before the text."),
    ("The tower of the old town at night|217x217px", "The tower of the old town at night"),
    *((line, "") for line in [
        "", "== A heading of more than five words ==", "| cell of a table with many words in it",
        "File:Some picture with a name of many words.png", "too short a line"])])
def test_a_line_loses_its_markup_and_keeps_its_sentence(line, clean):
    assert clean_line(line) == clean
