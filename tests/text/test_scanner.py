"""The compiled scanner finds what re.findall finds in the lower-cased text, for any text, block and
number of threads."""

import re
import sys
import threading
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.scanner import (FAST_PATTERNS, SPACE, WORD, Buffers, CharacterScan,
                                      ScannedBlock, TokenScan, WordScan, character_flags,
                                      long_tokens, scanned_blocks)
from lessons_lib.text.string_table import hashes_of

# Letters whose lower case is longer, depends on neighbours, or changes its width in UTF-8; white
# space of all kinds; NUL; joiners; surrogate pairs
CURIOUS = ("aZ_09 \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u3000\0"
           "\u0130\u0131\u03a3\u03c3\u03c2ΑΣβ\u212a\u023a\u2c65ßẞéÉe\u0301ǅ我爱עב👩\u200d👧𐐀𝔘\u0660²ⅣⅠ'-")
letters = st.one_of(st.sampled_from(CURIOUS), st.characters(exclude_categories=["Cs"]))
texts = st.lists(st.text(letters, max_size=40), min_size=1, max_size=8)


def test_flags_of_characters_are_those_of_re():
    flags, word, space = character_flags(), re.compile(r"\w"), re.compile(r"\s")
    for code in [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, sys.maxunicode, 7)]:
        c = chr(code)
        assert bool(flags[code] & WORD) == bool(word.match(c))
        assert bool(flags[code] & SPACE) == bool(space.match(c)) == c.isspace()
    assert not flags.flags.writeable


def tokens_per_document(block: ScannedBlock) -> list[list[str]]:
    names = block.strings.to_list()
    ends = block.document_ends.tolist()
    return [[names[i] for i in block.ids[a:b]] for a, b in zip([0, *ends], ends, strict=False)]


@given(texts, st.booleans(), st.sampled_from(sorted(FAST_PATTERNS)))
def test_words_are_the_matches_of_the_pattern(documents, lowercase, pattern):
    block = WordScan(FAST_PATTERNS[pattern], lowercase=lowercase)(documents, Buffers())
    documents = [text.lower() if lowercase else text for text in documents]
    assert tokens_per_document(block) == [re.findall(pattern, text) for text in documents]
    assert len(set(block.strings.to_list())) == len(block.strings)


def all_ngrams(text: str, low: int, high: int) -> list[str]:
    return sorted(text[i : i + n] for n in range(low, high + 1) for i in range(len(text) - n + 1))


@given(texts, st.booleans(), st.integers(1, 4), st.integers(0, 2))
def test_character_ngrams_are_all_slices_of_the_collapsed_text(documents, lowercase, low, more):
    block = CharacterScan(low, low + more, False, lowercase)(documents, Buffers())
    collapsed = [re.sub(r"\s\s+", " ", text.lower() if lowercase else text) for text in documents]
    expected = [all_ngrams(text, low, low + more) for text in collapsed]
    assert [sorted(tokens) for tokens in tokens_per_document(block)] == expected


@given(texts, st.integers(1, 4), st.integers(0, 2))
def test_character_ngrams_inside_words_pad_them_and_count_short_ones_once(documents, low, more):
    block = CharacterScan(low, low + more, True, True)(documents, Buffers())
    for text, tokens in zip(documents, tokens_per_document(block), strict=True):
        padded = [f" {word} " for word in text.lower().split()]
        grams = [all_ngrams(word, low, low + more) or [word] for word in padded]
        assert sorted(tokens) == sorted(chain.from_iterable(grams))


def test_buffers_used_again_do_not_leak_into_the_next_block():
    buffers, scan = Buffers(), WordScan(1, lowercase=True)
    first = tokens_per_document(scan(["one two three " * 50], buffers))
    assert tokens_per_document(scan(["four"], buffers)) == [["four"]]
    assert first == [["one", "two", "three"] * 50]


def test_a_block_with_more_distinct_words_than_its_first_table_holds():
    words = [f"w{i}" for i in range(5000)]
    block = WordScan(1, lowercase=False)([" ".join(words)], Buffers())
    assert tokens_per_document(block) == [words]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_come_back_in_order_for_any_number_of_threads(threads):
    batches = [[f"a{i}", f"b{i}"] for i in range(200)]
    found = [block for block in scanned_blocks(batches, tuple, threads=threads, size=7)]
    assert len(found) > 50
    assert list(chain.from_iterable(found)) == list(chain.from_iterable(batches))


def test_an_exception_of_the_iterator_comes_out_and_no_thread_stays():
    def failing():
        for i in range(50):
            yield [f"text {i}" * 10]
        raise OSError("the disk is gone")

    before = threading.active_count()
    with pytest.raises(OSError, match="the disk is gone"):
        list(scanned_blocks(failing(), WordScanWithBuffers(), threads=2, size=50))
    assert threading.active_count() == before


class WordScanWithBuffers:
    def __init__(self):
        self.buffers = Buffers()

    def __call__(self, block):
        return WordScan(1, lowercase=True)(block, self.buffers)


def test_T18_long_tokens_are_counted_in_characters_with_their_first_document():
    block = TokenScan(str.split)(["short", "é" * 30, "x" * 40 + " y", "z" * 41], Buffers())
    assert long_tokens(block, limit=39) == (2, 2)
    assert long_tokens(block, limit=29) == (3, 1)
    assert long_tokens(block, limit=41) == (0, 0)


def test_hashes_of_packed_strings_are_those_of_the_scans():
    documents = ["a bb ccccccc dddddddd eeeeeeeee éèêëàâîïôû 我爱自然语言处理"]
    block = WordScan(1, lowercase=True)(documents, Buffers())
    assert np.array_equal(block.hashes, hashes_of(block.strings))
