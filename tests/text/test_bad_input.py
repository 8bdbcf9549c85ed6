"""Bad input: each row is a call, the error, and what its message must name."""

import os

import numpy as np
import pytest

from lessons_lib.text import Corpus, Tokenizer, Vocabulary, split_sentences, tokenize
from lessons_lib.text.normalise import normalise
from lessons_lib.text.patterns import TokenPattern
from lessons_lib.text.stop_words import checked_stop_words

FINE = ["the cat", "a dog", "a cat"]
WORDS = {"the": 5, "cat": 2, "dog": 2, "bird": 1}
texts, tokens, Words = Corpus.from_texts, Corpus.from_tokens, Vocabulary
counted, corpus = Vocabulary.from_counts(WORDS), Corpus(Vocabulary(["a"], [3]), [0] * 3, [0, 3])


def with_item(item):
    return lambda: texts([*["fine"] * 300, item])


def by(tokenizer):
    return lambda: texts(["a text"], tokenizer=tokenizer)


ROWS = {
    "T01 one text": (lambda: texts("a text"), TypeError, "texts='a text'", "Pass a list"),
    "T02 no texts": (lambda: texts([]), ValueError, "0 documents", ">= 1"),
    "T02 an iterator at its end": (lambda: texts(iter(())), ValueError, "0 documents"),
    "T02 no lists": (lambda: tokens([]), ValueError, "0 documents", ">= 1"),
    "T03 empty texts": (lambda: texts(["", " \n"]), ValueError, "2 documents hold 0 tokens"),
    "T03 empty lists": (lambda: tokens([[], []]), ValueError, "2 documents hold 0 tokens"),
    "T05 None": (with_item(None), TypeError, "texts[300]=None", "NoneType"),
    "T06 nan": (with_item(float("nan")), TypeError, "texts[300] is nan", "missing value"),
    "T07 a number": (with_item(5), TypeError, "texts[300]=5", "int"),
    "T07 a bool": (with_item(True), TypeError, "texts[300]=True", "bool"),
    "T08 bytes": (with_item(b"a"), TypeError, "texts[300] is bytes", "Decode it"),
    "T09 tokens": (with_item(["a", "b"]), TypeError, "texts[300]", "Corpus.from_tokens"),
    "T10 texts as lists": (lambda: tokens(FINE), TypeError, "documents[0]", "Corpus.from_texts"),
    "T11 None": (lambda: tokens([["a"], ["b", "c", None]]), TypeError, "documents[1][2]"),
    "T11 a number": (lambda: tokens([["a"], ["b", "c", 5]]), TypeError, "documents[1][2]"),
    "T11 bytes": (lambda: tokens([["a"], ["b", "c", b"a"]]), TypeError, "documents[1][2]"),
    "T11 empty": (lambda: tokens([["a"], ["b", "c", ""]]), ValueError, "documents[1][2]"),
    "T14 surrogate": (lambda: texts(["fine", "abc\ud83d"]), ValueError, "texts[1]", "character 3"),
    "T14 in one text": (lambda: tokenize("ab\ud83d"), ValueError, "text[0]", "U+D83D"),
    "T20 a set": (lambda: texts({"a", "b"}), TypeError, "texts", "no order"),
    "T20 a dict": (lambda: texts({"a": 1}), TypeError, "texts", "is a dict"),
    "T20 a matrix": (lambda: texts(np.array([["a"]])), TypeError, "texts", "2-D ndarray"),
    "T20 a number": (lambda: texts(5), TypeError, "texts=5", "sequence of str"),
    "T20 a set as document": (lambda: tokens([["a"], {"b"}]), TypeError, "documents[1]", "order"),
    "T20 a dict as document": (lambda: tokens([["a"], {"b": 1}]), TypeError, "documents[1]"),
    "P08 corpus": (lambda: texts(["a a b"], min_count=3), ValueError, "min_count=3", "count is 2"),
    "P08 words": (lambda: Words.from_counts(WORDS, min_count=6), ValueError, "min_count=6", "is 5"),
    "P08 zero": (lambda: Words.from_counts(WORDS, min_count=0), ValueError, "min_count=0"),
    "P08 half": (lambda: Words.from_counts(WORDS, min_count=1.5), TypeError, "min_count=1.5"),
    "P08 no size": (lambda: Words.from_counts(WORDS, max_size=0), ValueError, "max_size=0"),
    "P08 bool": (lambda: Words.from_counts(WORDS, max_size=True), TypeError, "max_size=True"),
    "P25 no threads": (lambda: texts(FINE, threads=0), ValueError, "threads=0"),
    "P25 fewer": (lambda: texts(FINE, threads=-1), ValueError, "threads=-1"),
    "P25 half": (lambda: texts(FINE, threads=1.5), TypeError, "threads=1.5"),
    "no tokenizer": (by("words"), TypeError, "tokenizer='words'", "expected a Tokenizer"),
    "T10 it gives str": (by(lambda text: "abc"), TypeError, "tokenizer('a text')"),
    "T10 it gives None": (by(lambda text: None), TypeError, "tokenizer('a text')"),
    "T10 it gives numbers": (by(lambda text: [1]), TypeError, "tokenizer('a text')"),
    "T10 it gives lists": (by(lambda text: [["a"]]), TypeError, "tokenizer('a text')"),
    "T10 it gives nothing": (by(lambda text: [""]), ValueError, "tokenizer('a text')"),
    "T10 surrogates": (by(lambda text: ["\ud83d"]), ValueError, "tokenizer('a text')"),
    "no document": (lambda: corpus[1], ValueError, "document=1", "[-1, 0]"),
    "T05 text None": (lambda: tokenize(None), TypeError, "text=None", "one str"),
    "T05 text 5": (lambda: tokenize(5), TypeError, "text=5", "one str"),
    "T05 text list": (lambda: tokenize(["a"]), TypeError, "text=['a']", "Corpus.from_texts"),
    "T05 text bytes": (lambda: tokenize(b"a"), TypeError, "text=b'a'", "one str"),
    "T22 language": (lambda: tokenize("a", language="cn"), ValueError, "language='cn'", "'zh'"),
    "T22 form": (lambda: tokenize("a", normalise="NFX"), ValueError, "normalise='NFX'", "'NFC'"),
    "T22 of normalise": (lambda: normalise("a", "NFCC"), ValueError, "form='NFCC'", "'NFC'"),
    "T22 lowercase": (lambda: tokenize("a", lowercase=1), TypeError, "lowercase=1", "True"),
    "T22 pattern": (lambda: tokenize("a", "("), ValueError, "pattern='('", "no regular expression"),
    "T22 place": (lambda: TokenPattern("[a-z"), ValueError, "token_pattern=", "at position 0"),
    "T22 groups": (lambda: TokenPattern("(a)(b)"), ValueError, "2 groups", "(?:…)"),
    "T22 no pattern": (lambda: TokenPattern(None), TypeError, "token_pattern=None", "str"),
    "T22 bytes": (lambda: TokenPattern(b"a"), TypeError, "token_pattern=b'a'", "str"),
    "P26 keyword": (lambda: Tokenizer(lower_case=True), TypeError, "lower_case", "'lowercase'"),
    "T22 stop": (lambda: checked_stop_words("englisch"), ValueError, "stop_words=", "'english'"),
    "T22 stop number": (lambda: checked_stop_words([1]), TypeError, "stop_words[0]=1", "str"),
    "T22 stop 5": (lambda: checked_stop_words(5), TypeError, "stop_words=5", "a list of words"),
    "sentences": (lambda: split_sentences(["Yes."]), TypeError, "text=", "For a list"),
    "lengths": (lambda: Words(["a"], [1, 2]), ValueError, "counts", "one per token"),
    "rising": (lambda: Words(["a", "b"], [1, 2]), ValueError, "falling order", "from_counts"),
    "no occurrence": (lambda: Words(["a"], [0]), ValueError, "counts", ">= 1"),
    "twice": (lambda: Words(["a", "a"], [2, 1]), ValueError, "tokens holds 'a' twice"),
    "numbers as tokens": (lambda: Words([1, 2], [3, 2]), TypeError, "tokens[0]=1"),
    "fractions": (lambda: Words(["a", "b"], [2.5, 1.0]), TypeError, "counts=", "whole numbers"),
    "a set as tokens": (lambda: Words({"a"}, [1]), TypeError, "tokens=", "list"),
    "a str as tokens": (lambda: Words("ab", [2, 1]), TypeError, "tokens='ab'", "list"),
    "encode a str": (lambda: counted.encode("the"), TypeError, "tokens='the'", "[token]"),
    "decode halves": (lambda: counted.decode([0.9]), TypeError, "ids[0]=0.9"),
    "an id too large": (lambda: counted.token(4), ValueError, "id=4", "[0, 3]"),
    "offsets that fall": (lambda: Corpus(corpus.vocabulary, [0] * 3, [0, 3, 1, 3]), ValueError,
                          "offsets must not fall", "3 and then 1 at offsets[1]"),
    "ids that are fractions": (lambda: Corpus(corpus.vocabulary, [0.5], [0, 1]), TypeError,
                               "token_ids", "whole numbers"),
}


@pytest.mark.parametrize("call, error, words", [
    pytest.param(call, error, words, id=name) for name, (call, error, *words) in ROWS.items()])
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


FILES = {
    "T16 not UTF-8": (b"plain\nB\xe4r\n", {}, "line 2, byte 7: e4 is not UTF-8", "'latin-1'"),
    "the byte order mark counts": (b"\xef\xbb\xbfab\xff\n", {}, "line 1, byte 5"),
    "cut inside a letter": (b"ab\nc\xc3", {}, "line 2, byte 4"),
    "T16 not ASCII": (b"\xff\xfe\x00", {"encoding": "ascii"}, "is not ascii", "after line 0"),
    "T16 no encoding": (b"a", {"encoding": "utf-9"}, "encoding='utf-9' is unknown"),
    "none of text": (b"a", {"encoding": "rot13"}, "encoding='rot13' is unknown"),
    "of bytes": (b"a", {"encoding": "hex"}, "encoding='hex' is unknown"),
    "None": (b"a", {"encoding": None}, "encoding=None is unknown"),
    "empty": (b"", {}, "0 documents", ">= 1 line"),
}


@pytest.mark.parametrize("content, settings, words", [
    pytest.param(content, settings, words, id=name)
    for name, (content, settings, *words) in FILES.items()])
def test_a_file_that_is_no_text_is_refused_with_its_place(content, settings, words, tmp_path):
    (tmp_path / "texts.txt").write_bytes(content)
    with pytest.raises(ValueError) as caught:
        Corpus.from_file(tmp_path / "texts.txt", **settings)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


def test_F15_folders_pipes_and_missing_files_are_named(tmp_path):
    (tmp_path / "texts.txt").write_text("a")
    with pytest.raises(FileNotFoundError, match=r"text\.txt.*nearest name: .*texts\.txt"):
        Corpus.from_file(tmp_path / "text.txt")
    with pytest.raises(ValueError, match="is a folder"):
        Corpus.from_file(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "p")
        with pytest.raises(ValueError, match="is a pipe"):
            Corpus.from_file(tmp_path / "p")
