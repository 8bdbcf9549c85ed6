"""The exercises of lesson 02: what their answers claim is measured."""

from __future__ import annotations

import numpy as np

from lessons_lib import counts
from lessons_lib.evaluation import unit_rows
from lessons_lib.exercises.bag_of_words import EXERCISES, SCORES, UNCHANGED

TEXTS = ["the cat saw the dog", "a dog chased the cat and the cat ran", "moon and sun",
         "the sun rose over the moon"]
QUESTION = ["the cat and the moon"]


def all_scores(texts: list[str]) -> dict[str, np.ndarray]:
    bag = counts.BagOfWords().fit(texts)
    rows, asked = bag.transform(texts), bag.transform(QUESTION)
    found = {"inner product": (asked @ rows.T).toarray(),
             "cosine": (unit_rows(asked) @ unit_rows(rows).T).toarray()}
    for name, sublinear in (("TF-IDF", False), ("TF-IDF, log counts", True)):
        tfidf = counts.TfIdf(sublinear_tf=sublinear).fit(texts)
        found[name] = (tfidf.transform(QUESTION) @ tfidf.transform(texts).T).toarray()
    return found | {f"BM25, b = {b}": counts.BM25(b=b).fit(texts).scores(QUESTION) for b in (0, 1)}


def test_exactly_the_named_scores_survive_that_every_text_is_copied_behind_itself():
    once, twice = all_scores(TEXTS), all_scores([f"{text} {text}" for text in TEXTS])
    assert set(once) == set(SCORES)
    assert {name for name in SCORES if np.allclose(once[name], twice[name])} == set(UNCHANGED)


def test_the_word_weights_of_the_exercise_add_up_to_the_library_score():
    weight = EXERCISES["bm25_weight"].solution
    engine = counts.BM25(k1=1.2, b=0.4).fit(TEXTS)
    split = [text.split() for text in TEXTS]
    lengths = [sum(len(word) > 1 for word in words) for words in split]  # "a" is no word by default
    by_hand = [sum(weight(words.count(w), sum(w in other for other in split), 4, n,
                          np.mean(lengths), k1=1.2, b=0.4) for w in QUESTION[0].split())
               for words, n in zip(split, lengths, strict=True)]
    assert np.allclose(by_hand, engine.scores(QUESTION)[0])
