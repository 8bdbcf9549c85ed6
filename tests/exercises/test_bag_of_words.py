"""The exercises of lesson 02: what their answers claim is measured."""

from __future__ import annotations

import numpy as np

from lessons_lib import counts, datasets
from lessons_lib.evaluation import unit_rows
from lessons_lib.exercises.bag_of_words import EXERCISES, REASONS, UNCHANGED
from lessons_lib.text import split_sentences

TEXTS = ["the cat saw the dog", "a dog chased the cat and the cat ran", "moon and sun",
         "the sun rose over the moon"]
QUESTION = ["the cat and the moon"]
PATTERN = r"(?u)\b\w+\b"


def all_scores(texts: list[str]) -> dict[str, np.ndarray]:
    bag = counts.BagOfWords().fit(texts)
    rows, asked = bag.transform(texts), bag.transform(QUESTION)
    found = {"inner product": (asked @ rows.T).toarray(),
             "cosine": (unit_rows(asked) @ unit_rows(rows).T).toarray()}
    for name, sublinear in (("TF-IDF", False), ("TF-IDF, log counts", True)):
        tfidf = counts.TfIdf(sublinear_tf=sublinear).fit(texts)
        found[name] = (tfidf.transform(QUESTION) @ tfidf.transform(texts).T).toarray()
    return found


def test_exactly_the_named_scores_survive_that_every_text_is_copied_behind_itself():
    once, twice = all_scores(TEXTS), all_scores([f"{text} {text}" for text in TEXTS])
    assert set(once) == set(REASONS)
    assert {name for name in REASONS if np.allclose(once[name], twice[name])} == set(UNCHANGED)


def test_the_first_document_loses_all_its_words_to_the_idf_of_1972():
    docs = ["I love machine learning.", "I love machine learning. Machine learning is great."]
    X = counts.BagOfWords(token_pattern=PATTERN).fit_transform(docs).toarray()
    textbook = X[0] * np.log(2 / (X > 0).sum(axis=0))
    assert np.linalg.norm(textbook) == EXERCISES["two_documents"].solution


def test_without_the_words_of_one_document_fewer_sentences_find_their_article():
    rng, rest, queries, source = np.random.default_rng(7), [], [], []
    for i, text in enumerate(datasets.load("wikipedia-sample")):
        sentences = split_sentences(text, min_words=8)
        n_out = min(5, max(1, len(sentences) // 4))
        out = set(rng.choice(len(sentences), size=n_out, replace=False).tolist())
        rest.append(" ".join(s for j, s in enumerate(sentences) if j not in out))
        queries += [sentences[j] for j in sorted(out)]
        source += [i] * n_out
    share = []
    for min_df in (1, 2):
        tfidf = counts.TfIdf(token_pattern=PATTERN, sublinear_tf=True, min_df=min_df)
        rows = tfidf.fit_transform(rest)
        best = (tfidf.transform(queries) @ rows.T).argmax(axis=1)
        share.append(100 * np.mean(np.ravel(best) == source))
    low, high = EXERCISES["rare_words"].judge.outcomes["it falls"]
    assert low < share[1] < high and share[0] - share[1] > 2, share


def test_the_planted_fault_gives_a_frequent_word_a_weight_below_zero():
    X = [[9, 0], [9, 1]]
    broken = EXERCISES["negative_idf"].wrong["the code as it was"]
    assert broken(X)[0] < 0 < EXERCISES["negative_idf"].solution(X)[0]
