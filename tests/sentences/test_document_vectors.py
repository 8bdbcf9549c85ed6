"""Labels of documents: any str or int, memory by their number, neighbours by label, and tags that
are none.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.sentences import DocumentVectors
from lessons_lib.sentences.document_vectors import LearnedDocuments, read_tags


def vectors():
    return DocumentVectors([7, "7", -1, "news"], [[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])


def test_a_number_and_its_digits_are_two_labels():
    found = vectors()
    assert found[7].tolist() == [1.0, 0.0] and found["7"].tolist() == [1.0, 1.0] and found[[
        -1, 7
    ]].tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert 7 in found and "news" in found and 8 not in found and None not in found and len(
        found) == 4 and found.dim == 2
    assert list(found) == [7, "7", -1, "news"] and repr(found) == "DocumentVectors(4 labels x 2)"


def test_neighbours_are_labels_and_a_vector_may_ask():
    found = vectors()
    assert [label for label, _ in found.most_similar(7)] == ["7", -1, "news"]
    assert found.most_similar(np.array([0.0, 1.0]), topn=1) == [(-1, 1.0)]
    assert found.similarity(7, "7") == pytest.approx(np.sqrt(0.5)) and found.similarity(
        7, "news") == 0.0


def test_V18_a_vector_that_was_changed_counts_at_once():
    found = vectors()
    found.matrix[2] = [5.0, 0.1]
    assert found.most_similar(7, topn=1)[0][0] == -1


def test_tags_become_rows_in_the_order_in_which_they_come():
    found = read_tags([["a", 3], [3], ("b", "a")], 3)
    assert found.labels == ["a", 3, "b"] and found.rows.tolist() == [
        0, 1, 1, 2, 0
    ] and found.offsets.tolist() == [0, 2, 3, 5]
    more = read_tags([["b"], [np.int64(4)]], 2, known=found.labels)
    assert more.labels == ["a", 3, "b", 4] and more.rows.tolist() == [2, 3] and type(
        more.labels[3]) is int
    numbered = read_tags(None, 2, known=found.labels)
    assert numbered.labels[3:] == [3, 4] and numbered.rows.tolist() == [3, 4]


def test_P22_memory_goes_by_the_number_of_tags():
    found = read_tags([[10**9], [-1], ["€"], [10**30]], 4)
    assert found.rows.max() == 3 and found.labels == [10**9, -1, "€", 10**30]
    kind, documents = LearnedDocuments(file="documents"), DocumentVectors(
        found.labels, np.ones((4, 2)))
    assert kind.unpack(*kind.pack(documents), {}).labels == found.labels
