"""Tokens of one text: pattern, case, normal form, Chinese."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text import Corpus, Tokenizer, tokenize


def test_words_of_any_script_are_found_and_lower_cased():
    text = "Größe, Ёлка & ΟΔΟΣ: naïve_1 שלום"
    assert tokenize(text) == ["größe", "ёлка", "οδος", "naïve_1", "שלום"]


def test_apostrophes_cut_by_default_and_stay_with_the_pattern_that_keeps_them():
    assert tokenize("Don't!") == ["don", "t"]
    assert tokenize("Don't!", r"\w+(?:['’]\w+)*") == ["don't"]


def test_T15_both_spellings_of_an_accent_give_one_token():
    assert tokenize("cafe\u0301") == tokenize("café") == ["café"]
    assert tokenize("cafe\u0301", normalise=None) != tokenize("café", normalise=None)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_T15_the_corpus_finds_the_tokens_that_the_tokenizer_finds(text):
    corpus = Corpus.from_texts([text + " there_is_a_token"])
    assert corpus.tokens(0) == tokenize(text + " there_is_a_token")


def test_chinese_is_cut_by_a_dictionary_and_punctuation_falls_away():
    words = tokenize("我来到北京清华大学，GPT很好。", language="zh")
    assert words == ["我", "来到", "北京", "清华大学", "gpt", "很", "好"]


def printed(code: str, *options: str) -> tuple[str, str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True,
                          env=env, check=True)
    return done.stdout.strip(), done.stderr


def test_chinese_cutting_says_nothing():
    code = "import lessons_lib as ll; ll.text.tokenize('我爱自然语言处理', language='zh')"
    assert printed(code, "-W", "error::DeprecationWarning:lessons_lib") == ("", "")


def test_jieba_is_not_imported_for_other_languages():
    code = "import sys, lessons_lib as ll; ll.text.tokenize('hello'); print('jieba' in sys.modules)"
    assert printed(code)[0] == "False"


def test_T22_a_catastrophic_pattern_is_stopped_in_a_corpus():
    with pytest.raises(ValueError, match="pattern=.* was stopped"):
        Corpus.from_texts(["ab " * 2000, "A" * 60 + "!"], tokenizer=Tokenizer(r"(?:a+)+b"))
