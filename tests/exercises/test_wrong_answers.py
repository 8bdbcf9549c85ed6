"""A wrong answer is told what is wrong with it, in every lesson."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises import (anisotropy, bag_of_words, bert_flow, bert_sentence_vectors,
                                   bert_whitening, cosent, doc2vec, for_lesson, glove_and_fasttext,
                                   outlook, sbert, search, sif_and_usif, simcse, start_here,
                                   stems, topic_models, verdict, word2vec)

ALL = [(lesson, exercise) for lesson in stems() for exercise in for_lesson(lesson).values()]
SAID = [
    (anisotropy, "changes", set(anisotropy.CHANGES[:2]),
     "1 of six is wrong. Think about this: the origin moves"),
    (anisotropy, "norm_of_mean", 9, "Put 0.9 into the formula"),
    (anisotropy, "untied", ("stay (above 0.4)", 0.0), "which means 'stay near 0 (below 0.2)'"),
    (bag_of_words, "two_documents", 1, "What is log(N / df)"),
    (bag_of_words, "twice", {"cosine"}, "1 of four is wrong. Think about this: idf counts"),
    (bag_of_words, "rare_words", ("it rises", 68.8), "which means 'it falls'"),
    (bag_of_words, "negative_idf", bag_of_words.EXERCISES["negative_idf"].wrong["cut at zero"],
     "for "),
    (bag_of_words, "same_pairs", (["a"], ["b"]),
     "the bags differ: 'a' occurs once in the first and 0 times"),
    (bag_of_words, "same_pairs", (["dog", "bites", "man"], ["man", "bites", "dog"]),
     "the bags agree, but 'dog bites' occurs once in the first and 0 times"),
    (bag_of_words, "same_pairs", ("a b", "b a"), "write each sentence as a list of words"),
    (bag_of_words, "same_pairs", [["a", "b"]], "expected two sentences"),
    (bert_flow, "keeps_volume", set(bert_flow.MAPS[:1]),
     "3 of seven are wrong. Think about this: nothing is stretched"),
    (bert_flow, "same_area", [[1, 0]], "expected shape (2, 2)"),
    (bert_flow, "same_area", "a shear", "expected numbers"),
    (bert_flow, "same_area", [[2, 0], [0, 1]], "should have the signed area 1"),
    (bert_flow, "same_area", [[1, 1], [0, 1]], "the most that yours does is 1.62"),
    (bert_flow, "density_at", 1, "comes from z = 0.2"),
    (bert_sentence_vectors, "unchanged", set(bert_sentence_vectors.CHANGES[:2]),
     "1 of six is wrong. Think about this: what keeps the tokens"),
    (bert_sentence_vectors, "unchanged", set(bert_sentence_vectors.CHANGES),
     "3 of six are wrong. Think about this: the same tokens"),
    (bert_whitening, "unseen", set(bert_whitening.CHANGES[:4]),
     "1 of seven is wrong. Think about this: Σ becomes"),
    (bert_whitening, "uncorrelated", [[1, 0]], "expected two directions"),
    (bert_whitening, "uncorrelated", [[1, 0], [0, 1]], "it should be 0"),
    (bert_whitening, "uncorrelated", np.linalg.eigh(bert_whitening.SIGMA)[1].T,
     "you have found the eigenvectors"),
    (bert_whitening, "directions", 99, "How many different points"),
    (cosent, "terms", 45, "strictly higher grade"),
    (cosent, "unseen", set(cosent.CHANGES[4:]),
     "2 of seven are wrong. Think about this: only differences"),
    (cosent, "disagree", [[1, 0]], "expected two rows"),
    (cosent, "disagree", [[0.9, 0.5, 0.1], [0.1, 0.6, 0.5]], "should rise"),
    (cosent, "disagree", [[0.1, 0.5, 0.9], [0.0, 0.5, 1.0]], "out of order"),
    (cosent, "disagree", [[0.8, 0.85, 0.9], [0.3, 0.25, 1.0]], "the means are 0.85 and 0.52"),
    (cosent, "disagree", [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]], "the smaller one"),
    (doc2vec, "same_objective", set(doc2vec.CHANGES),
     "2 of six are wrong. Think about this: which words does each vector"),
    (doc2vec, "same_objective", set(doc2vec.CHANGES[:2]),
     "2 of six are wrong. Think about this: which words did the tag's vector"),
    (doc2vec, "n_numbers", 2_000_000, "how long a row of the outputs must be"),
    (glove_and_fasttext, "same_products", set(glove_and_fasttext.CHANGES[:2]),
     "2 of six are wrong. Think about this: only the sum"),
    (glove_and_fasttext, "between", [[1, 0]], "expected shape (3, 2)"),
    (glove_and_fasttext, "between", [[1, 0], [-1, 0], [1, 1]], "has the norm 0"),
    (glove_and_fasttext, "between", [[1, 0], [0, 1], [1, 0]], "should be nearest to the mean"),
    (glove_and_fasttext, "between", [[1, 0.5], [0.5, 1], [1, 1]], "below 0.8 with both senses"),
    (outlook, "who_is_told", set(outlook.TEXTS),
     "2 of six are wrong. Think of what each was trained with: with BGE only the question"),
    (outlook, "who_is_told", outlook.TOLD - {outlook.TEXTS[1]},
     "1 of six is wrong. Think of what each was trained with: E5 was trained with `passage: `"),
    (outlook, "first_weight", 0.2, "the first token has 1/i there"),
    (sbert, "labels", "neutral", "expected a list of six labels"),
    (sbert, "labels", ["maybe"] * 6, "'maybe'"),
    (sbert, "labels", ["neutral"] * 5, "5 labels"),
    (sbert, "labels",
     ["entailment", "neutral", "contradiction", "neutral", "contradiction", "contradiction"],
     "pair 5: three are at least two"),
    (sbert, "unseen", set(sbert.CHANGES[:4]),
     "1 of seven is wrong. Think about this: the absolute value does not see it"),
    (sbert, "compare", [[1, 2]], "expected 2 to 20 rows"),
    (sbert, "compare", [[0, 0, 1], [1, 1, 1]], "each at least once"),
    (sbert, "compare", [[0, 0, 1], [0, 1, 0]], "a classifier of (u, v) tells"),
    (sbert, "compare", [[0, 0, 1], [1, 1, 0], [2, 2, 1]], "neither"),
    (search, "same_ranking", set(search.CHANGES[:3]),
     "1 of six is wrong. Think about this: its list is empty"),
    (sif_and_usif, "unchanged", set(sif_and_usif.CHANGES[:3]),
     "1 of six is wrong. Think about this: twice the words"),
    (sif_and_usif, "unchanged", set(sif_and_usif.CHANGES),
     "2 of six are wrong. Think about this: a vector with a large norm"),
    (simcse, "equal_loss", 0.0, "All candidates look alike"),
    (simcse, "same_views", {simcse.WAYS[1], simcse.WAYS[2]},
     "2 of six are wrong. Think about this: the tokenizer"),
    (simcse, "counterexample", [[1, 0], [-1, 0]], "expected three directions"),
    (simcse, "counterexample", [[1, 0], [1, 1], [0, 1]], "which is not above it"),
    (start_here, "bent_but_perfect", [0, 0, 0, 0, 0, 1], "equal scores are no order"),
    (start_here, "few_pairs", ("about four times as wide", np.array([48.0, 76.0])),
     "expected one number that you measured, yours has shape (2,): [48., 76.]"),
    (topic_models, "unseen", {"topics renumbered"},
     "2 of six are wrong. Think about this: look for the place of a word"),
    (topic_models, "unseen", set(topic_models.CHANGES),
     "3 of six are wrong. Think about this: twice the words"),
    (word2vec, "same_neighbours", set(word2vec.CHANGES[:2]),
     "2 of six are wrong. Think about this: the cosine divides"),
    (word2vec, "shuffled_words", ("it falls to about 0", 35), "you expected 'it falls to about 0'"),
    (word2vec, "all_alike", word2vec.EXERCISES["all_alike"].wrong["the code as it was"],
     "the fault is still there"),
]


@pytest.mark.parametrize(("lesson", "name", "answer", "said"), [
    pytest.param(*row, id=f"{row[0].__name__.rpartition('.')[2]}-{row[1]}-{row[3][:30]}")
    for row in SAID])
def test_a_wrong_answer_is_told_what_is_wrong_with_it(lesson, name, answer, said):
    assert said in verdict(lesson.EXERCISES[name], answer)


def test_a_set_of_texts_and_a_function_are_asked_for_by_kind():
    sets = [exercise for lesson, exercise in ALL
            if isinstance(exercise.solution, set)]
    functions = [exercise for _, exercise in ALL if callable(exercise.solution)]
    assert len(sets) >= 10 and len(functions) >= 40
    for exercise in sets:
        assert "expected a set of texts" in verdict(exercise, "all")
        assert "is none of the" in verdict(exercise, {"all"})
    for exercise in functions:
        assert "expected a function" in verdict(exercise, 3)
