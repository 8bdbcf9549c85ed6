"""What gensim's wheel ships: sizes, clean text, and a cache that costs nothing when it is lost or damaged."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

from lessons_lib.core import DataMissing, cache_folder
from lessons_lib.datasets import load, resolve
from lessons_lib.datasets.wikipedia import clean_line

pytestmark = pytest.mark.usefixtures("no_data")


@pytest.fixture(scope="module")
def extracted(tmp_path_factory):
    """The sample, and the cache folder it was kept in."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("extracted")
        patch.setenv("LESSONS_CACHE", str(folder))
        yield load("wikipedia-sample"), folder


@pytest.fixture
def sample(extracted):
    return extracted[0]


def test_the_wikipedia_sample_has_106_titled_articles_with_sentences(sample):
    assert len(sample) == 106 == len(sample.titles) and 440_000 < sum(len(text.split()) for text in sample) < 465_000
    article = sample[sample.titles.index("Anarchism")]
    assert article.startswith("Anarchism is a political philosophy that advocates self-governed societies based on voluntary institutions. ")


def test_the_wikipedia_sample_is_free_of_markup(sample):
    lines = [line for text in sample for line in text.split("\n")]
    assert not [line for line in lines if "''" in line or line.startswith(("=", "* ", "|")) or "[[" in line or "{{" in line]
    assert sum(bool(re.search(r"[.!?][\"')”]?$", line)) for line in lines) > 0.5 * len(lines)


def test_a_second_load_comes_from_the_cache_without_gensim(extracted, monkeypatch):
    first, folder = extracted
    monkeypatch.setenv("LESSONS_CACHE", str(folder))
    monkeypatch.setitem(sys.modules, "gensim.corpora.wikicorpus", None)      # importing it now fails
    second = load("wikipedia-sample")
    assert second.texts == first.texts and second.titles == first.titles


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"texts": [], "titles": []}', '{"texts": ["a"], "titles": []}', '{"texts": 3, "titles": 3}'])
def test_F03_a_damaged_cache_is_made_anew(monkeypatch, damage):
    from lessons_lib.datasets import wikipedia as bundled

    monkeypatch.setattr(bundled, "_extracted", lambda dump: {"texts": ["Fresh text."], "titles": ["Fresh"]})
    load("wikipedia-sample")
    kept = next((cache_folder() / "derived").glob("*.json"))
    kept.write_text(damage)
    assert load("wikipedia-sample").texts == ["Fresh text."]
    assert json.loads(kept.read_text())["titles"] == ["Fresh"]


def test_two_lessons_that_need_the_sample_at_once_clean_it_once(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    from lessons_lib.datasets import wikipedia as bundled

    cleaned = []

    def slowly(dump):
        time.sleep(0.3)
        cleaned.append(dump)
        return {"texts": ["Fresh text."], "titles": ["Fresh"]}

    monkeypatch.setattr(bundled, "_extracted", slowly)
    with ThreadPoolExecutor(2) as both:                                      # each call opens its own lock, as a process does
        found = list(both.map(load, ["wikipedia-sample"] * 2))
    assert len(cleaned) == 1 and [documents.titles for documents in found] == [["Fresh"]] * 2


def test_F16_a_cache_that_cannot_be_written_costs_only_time(monkeypatch, tmp_path):
    from lessons_lib.datasets import wikipedia as bundled

    monkeypatch.setattr(bundled, "_extracted", lambda dump: {"texts": ["Fresh text."], "titles": ["Fresh"]})
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("LESSONS_CACHE", str(blocked / "below a file"))
    assert load("wikipedia-sample").titles == ["Fresh"]


@pytest.mark.parametrize("line, clean", [
    ("'''Bold''' words are ''here'' in one line.", "Bold words are here in one line."), ("== A heading of more than five words ==", ""),
    ("* [x] is an item of a list with words", "[x] is an item of a list with words"), ("too short a line", ""),
    ("The word (; , ) has lost its empty brackets today", "The word has lost its empty brackets today"),
    ("A reading ( , from Greek ) comes before the text .", "A reading (from Greek) comes before the text."),
    ("The tower of the old town at night|217x217px", "The tower of the old town at night"), ("| cell of a table with many words in it", ""),
    ("File:Some picture with a name of many words.png", ""), ("", "")])
def test_a_line_loses_its_markup_and_keeps_its_sentence(line, clean):
    assert clean_line(line) == clean


def test_lee_has_300_background_and_50_compared_documents():
    background, compared = load("lee"), load("lee", "test")
    assert (len(background), len(compared), len(load("lee", "all"))) == (300, 50, 350)
    assert background[0].startswith("Hundreds of people have been forced to vacate their homes in the Southern Highlands")
    assert any("£3,000" in text for text in compared)             # this file is Latin-1


def test_word_pairs_and_analogies_have_their_published_sizes():
    words, lex, analogies = load("wordsim353"), load("simlex999"), load("analogies")
    assert (len(words), words.word1[1], words.word2[1], words.score[1]) == (353, "tiger", "cat", 7.35)
    assert (len(lex), lex.word1[0], lex.word2[0], lex.score[0]) == (999, "old", "new", 1.58)
    assert len(analogies) == 19544 and len(set(analogies.section)) == 14
    assert analogies.questions[0].tolist() == ["Athens", "Greece", "Baghdad", "Iraq"]


def test_F19_without_gensim_the_error_says_where_it_comes_from(monkeypatch):
    monkeypatch.setattr(resolve, "_gensim_folder", lambda: None)
    with pytest.raises(DataMissing, match=r"lee is not on this machine.(.|\n)*It comes with gensim"):
        load("lee")
    with pytest.raises(DataMissing, match="lessons data get wordsim353"):
        load("wordsim353")
