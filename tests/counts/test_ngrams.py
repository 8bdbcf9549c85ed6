"""n-grams of one text."""

from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.counts.ngrams import ngrams


@given(st.lists(st.text()), st.integers(1, 6))
def test_there_are_length_minus_n_plus_one_runs_of_neighbours(tokens, n):
    grams = ngrams(tokens, n)
    assert len(grams) == max(0, len(tokens) - n + 1)
    assert all(list(gram) == tokens[i : i + n] for i, gram in enumerate(grams))


def test_the_bigrams_of_the_worked_example():
    assert [" ".join(gram) for gram in ngrams(["I", "love", "machine", "learning"],
                                              2)] == ["I love", "love machine", "machine learning"]
