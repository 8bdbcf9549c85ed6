"""Changes of texts keep what they promise: which words stay, and how many come."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.contrastive.augment import (back_translation, compose, crop, delete_one_word,
                                             delete_words, eda, insert_words, joined,
                                             neighbour_synonyms, replace_synonyms, swap_words,
                                             words_of)
from lessons_lib.core import generator
from lessons_lib.vectors import WordVectors

SYNONYMS = {"quick": ["fast", "rapid"], "dog": ["hound"], "fox": ["vixen"], "new": ["brand new"]}
FOX = "The quick brown fox jumps over the lazy dog and the old fox sleeps"
words = st.lists(st.sampled_from([*SYNONYMS, "brown", "jumps", "over", "我", "爱", "猫"]),
                 min_size=1, max_size=25)
seeds = st.integers(0, 1000)
shares = st.floats(0, 1)


def is_subsequence(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


@pytest.mark.parametrize(("text", "expected"), [
    ("two  words", ["two", "words"]), ("我爱你", ["我", "爱", "你"]),
    ("用Python写。", ["用", "Python", "写", "。"]), ("don't stop, now", ["don't", "stop,", "now"]),
    ("カタ かな", ["カ", "タ", "か", "な"]), ("", []), (" \t", []), ("𠀀a", ["𠀀", "a"])])
def test_white_space_parts_words_and_characters_without_spaces_stand_alone(text, expected):
    assert words_of(text) == expected


@given(words)
def test_what_is_joined_is_cut_into_the_same_words(old):
    assert words_of(joined(old)) == old


def test_chinese_is_joined_without_spaces_and_words_can_be_cut_in_another_way():
    assert joined(["我", "用", "Python", "写", "。"]) == "我用 Python 写。"
    pairs = delete_one_word("自然语言", rng=generator(0),
                            words=lambda text: [text[i:i + 2] for i in range(0, len(text), 2)])
    assert pairs in ("自然", "语言")


@given(words, shares, seeds)
def test_deletion_leaves_a_part_of_the_words_in_their_order(old, share, seed):
    new = words_of(delete_words(joined(old), share, rng=generator(seed)))
    assert new and is_subsequence(new, old)


@given(words, seeds)
def test_deleting_one_word_takes_exactly_one_unless_it_is_the_only_one(old, seed):
    new = words_of(delete_one_word(joined(old), rng=generator(seed)))
    assert len(new) == max(1, len(old) - 1) and is_subsequence(new, old)


@given(words, shares, seeds)
def test_a_crop_is_a_stretch_of_the_promised_length(old, share, seed):
    new = words_of(crop(joined(old), share, rng=generator(seed)))
    assert len(new) == max(1, round((1 - share) * len(old)))
    assert any(old[i : i + len(new)] == new for i in range(len(old)))


@given(words, shares, seeds)
def test_a_swap_keeps_every_word_as_often_as_it_was(old, share, seed):
    assert Counter(words_of(swap_words(joined(old), share, rng=generator(seed)))) == Counter(old)


@given(words, shares, seeds)
def test_insertion_adds_first_synonyms_only_and_never_after_the_last_word(old, share, seed):
    single = {word: others for word, others in SYNONYMS.items() if word != "new"}
    new = words_of(insert_words(joined(old), single, share, rng=generator(seed)))
    added, wanted = Counter(new) - Counter(old), max(1, int(share * len(old))) if share else 0
    assert is_subsequence(old, new) and new[-1] == old[-1]
    assert sum(added.values()) <= wanted and set(added) <= {"fast", "hound", "vixen"}


@given(words, shares, seeds)
def test_replacing_by_single_words_keeps_the_length_and_every_other_word(old, share, seed):
    single = {word: others for word, others in SYNONYMS.items() if word != "new"}
    new = words_of(replace_synonyms(joined(old), single, share, rng=generator(seed)))
    assert len(new) == len(old)
    assert all(a == b or b in single[a] for a, b in zip(old, new, strict=True))


def test_a_word_is_replaced_everywhere_and_keeps_punctuation_and_capitals():
    new = replace_synonyms(FOX, SYNONYMS, 1.0, rng=generator(0)).split()
    assert new.count("vixen") == 2 and "fox" not in new and "hound" in new
    table = {"dog": ["hound"], "the": ["that"]}
    assert replace_synonyms('The end: "Dog," he said to the dog.', table, 1.0,
                            rng=generator(0)) == 'The end: "Hound," he said to the hound.'
    assert replace_synonyms("the dog", table, 1.0, rng=generator(0), keep=()) == "that hound"


@pytest.mark.parametrize("change", [
    delete_words, crop, swap_words,
    lambda text, share, rng: insert_words(text, SYNONYMS, share, rng=rng),
    lambda text, share, rng: replace_synonyms(text, SYNONYMS, share, rng=rng)])
def test_a_share_of_nothing_changes_nothing_and_a_small_one_does_one_thing(change):
    assert change(f" {FOX}  again", 0.0, rng=generator(3)) == f" {FOX}  again"
    assert change("", 0.0, rng=generator(3)) == change("", 0.5, rng=generator(3)) == ""
    assert change in (delete_words, crop) or change(FOX, 0.01, rng=generator(1)) != FOX


def test_deletion_takes_its_share_on_average_and_of_all_words_leaves_any_one():
    text = joined(["word"] * 200)
    kept = np.mean([len(words_of(delete_words(text, 0.3, rng=generator(seed))))
                    for seed in range(50)])
    assert 134 < kept < 146                       # 140, standard deviation of the mean .9
    stayed = {delete_words("one two three", 1.0, rng=generator(seed)) for seed in range(40)}
    assert stayed == {"one", "two", "three"} and delete_words("one", 1.0, rng=generator(0)) == "one"


def test_without_a_synonym_nothing_changes_and_one_of_two_words_is_one_until_it_is_cut():
    assert insert_words(FOX, {}, 0.5, rng=generator(0)) == FOX
    assert replace_synonyms(FOX, {}, 0.5, rng=generator(0)) == FOX
    assert len(insert_words("new", SYNONYMS, rng=generator(0)).split()) == 3


def test_the_same_seed_changes_a_text_in_the_same_way_and_another_in_another():
    made = [swap_words(FOX, 0.3, rng=generator(seed)) for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]


def test_eda_gives_as_many_texts_as_asked_by_all_four_operations_and_the_original_last():
    for n in range(1, 13):
        made = eda(FOX, SYNONYMS, n=n, rng=generator(n))
        assert len(made) == n + 1 and made[-1] == FOX
    made = eda(FOX, SYNONYMS, n=36, share=0.2, rng=generator(0))[:-1]
    lengths = np.array([len(text.split()) for text in made]) - len(FOX.split())
    same = [text for text, length in zip(made, lengths, strict=True) if length == 0]
    assert (lengths > 0).any() and (lengths < 0).any()
    assert any(Counter(text.split()) == Counter(FOX.split()) for text in same)
    assert any("vixen" in text for text in same)


def test_neighbours_stand_in_for_synonyms_where_they_are_close():
    vectors = WordVectors(["cat", "dog", "car", "the"],
                          np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.95, 0.0]]))
    table = neighbour_synonyms(vectors, ["The cat, the car."], n=2)
    assert table["cat"] == ["the", "dog"] and "car" not in table and "the" not in table


def test_changes_one_after_the_other_share_the_generator_and_translation_goes_back():
    def noisy(text, rng):
        return f"{text} {rng.integers(1000)}"

    rng = generator(5)
    assert compose(noisy, noisy)("a", generator(5)) == noisy(noisy("a", rng), rng)
    assert compose()("a", generator(0)) == "a"
    assert back_translation(str.upper, str.title)("to be", generator(0)) == "To Be"
