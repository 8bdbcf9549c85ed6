"""Documents by their labels: which rows belong to which document, and the vectors that were learned
for them.

A document has one tag or several, and a tag is any str or int: a number, a title, a class that
documents share. Memory goes with the number of different tags, not with their size. Taught in
lesson ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import UnknownWord, shown
from ..core.documents import check_encodable
from ..core.learned import Learned, checked_array, packed_strings, unpacked_strings
from ..vectors import WordVectors

__all__ = ["DocumentVectors", "Label", "LearnedDocuments", "Tagging", "read_tags"]

Label = str | int


class DocumentVectors:
    """One vector per label of documents.

    Parameters
    ----------
    labels : sequence of str or int, distinct
    matrix : (n, dim) real
        Row i of ``labels[i]``.

    Raises
    ------
    TypeError, ValueError
        A label twice, other sizes.

    Examples
    --------
    >>> DocumentVectors([7, "news"], [[1.0, 0.0], [1.0, 1.0]]).most_similar(7)
    [('news', 0.7071067811865475)]
    """

    def __init__(self, labels: Sequence[Label], matrix: Any):
        self._vectors = WordVectors([str(i) for i in range(len(labels))], matrix, name="documents")
        self.labels, self.matrix = list(labels), self._vectors.matrix
        self._rows = {label: row for row, label in enumerate(self.labels)}
        if len(self._rows) < len(self.labels):
            raise ValueError(f"labels={shown(self.labels)} holds a label twice; expected distinct "
                             "labels")

    @property
    def dim(self) -> int:
        """Columns of a vector."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, (str, int)) and label in self._rows

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __repr__(self) -> str:
        return f"DocumentVectors({len(self):,} labels x {self.dim})"

    def rows(self, labels: Iterable[Label]) -> np.ndarray:
        """The rows of labels.

        Parameters
        ----------
        labels : iterable of str or int

        Returns
        -------
        (n,) int64

        Raises
        ------
        UnknownWord
            Names the first missing label, with at most 3 near ones.
        """
        from ..text.vocabulary import near_words

        labels = list(labels)
        for label in labels:
            if label not in self:
                near = near_words(str(label), list(map(str, self.labels)))
                raise UnknownWord(f"no document is tagged {shown(label)} among {len(self):,} labels"
                                  + (f"; near labels: {', '.join(near)}" if near else ""))
        return np.array([self._rows[label] for label in labels], dtype=np.int64)

    def __getitem__(self, label: Label | list[Label]) -> np.ndarray:
        """The vector of a label, (dim,), a view; of a list of labels, (n, dim), a copy.

        Raises UnknownWord.
        """
        rows = self.rows(label if isinstance(label, list) else [label])
        return self.matrix[rows if isinstance(label, list) else rows[0]]

    def similarity(self, a: Label, b: Label) -> float:
        """The cosine of two documents; 0 with a zero vector.

        Parameters
        ----------
        a, b : str or int

        Returns
        -------
        float in [-1, 1]

        Raises
        ------
        UnknownWord
        """
        return self._vectors.similarity(*(str(row) for row in self.rows([a, b])))

    def most_similar(self, label: Label | np.ndarray, *,
                     topn: int = 10) -> list[tuple[Label, float]]:
        """The labels with the highest cosine to a label, which is not its own answer, or to a
        vector.

        Parameters
        ----------
        label : str, int or (dim,) real
            A vector such as an inferred one.
        topn : int >= 1, default 10

        Returns
        -------
        list of (label, cosine)
            Highest first; of equals the earlier label first.

        Raises
        ------
        UnknownWord, ValueError
            topn < 1, a zero query.
        """
        query: Any = label
        if isinstance(label, (str, int)):
            row = int(self.rows([label])[0])
            if not self.matrix[row].any():
                raise ValueError(f"the document tagged {shown(label)} has the zero vector, which "
                                 "has no direction: it holds no known word")
            query = str(row)
        return [(self.labels[int(token)], cosine)
                for token, cosine in self._vectors.most_similar(query, topn=topn)]


class Tagging(NamedTuple):
    """``labels``, each of which has a row; ``rows`` int32 of all documents one after the other,
    those of document i from ``offsets[i]`` (int64)."""

    labels: list[Label]
    rows: np.ndarray
    offsets: np.ndarray


def _checked_label(where: str, label: Any) -> Label:
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return int(label)
    if not isinstance(label, str):
        raise TypeError(f"{where}={shown(label)} is {type(label).__name__}; expected a tag: a str "
                        "or an int")
    check_encodable(f"{where}={shown(label)}", label)
    return label


def _checked_document(i: int, tags: Any) -> list[Label]:
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Iterable):
        raise TypeError(f"tags[{i}]={shown(tags)} is {type(tags).__name__}; expected a list of "
                        f"tags for each document, such as [{shown(tags)}]")
    result = [_checked_label(f"tags[{i}][{j}]", tag) for j, tag in enumerate(tags)]
    if not result:
        raise ValueError(f"tags[{i}]={shown(tags)} is empty; expected a list of tags, at least one "
                         "for each document")
    if len(set(result)) < len(result):
        raise ValueError(f"tags[{i}]={shown(tags)} holds a tag twice; expected a list of different "
                         "tags")
    return result


def read_tags(tags: Any, n: int, *, known: Sequence[Label] = ()) -> Tagging:
    """The tags of n documents as rows.

    Parameters: tags, one list of labels for each document, or None: documents are numbered from the
    number of ``known`` labels on; known, labels that have rows already, which new ones follow.
    Raises TypeError, ValueError that name the document.
    """
    if tags is None:
        numbers = range(len(known), len(known) + n)
        return Tagging([*known, *numbers], np.array(numbers, dtype=np.int32), np.arange(n + 1))
    if isinstance(tags, (str, bytes, dict, set)) or not isinstance(tags, Iterable):
        raise TypeError(f"tags={shown(tags)} is {type(tags).__name__}; expected one list of tags "
                        "for each document, or None")
    documents = [_checked_document(i, item) for i, item in enumerate(tags)]
    if len(documents) != n:
        raise ValueError(f"tags holds {len(documents):,} lists for {n:,} documents; expected a "
                         "list of tags for each")
    row_of = {label: row for row, label in enumerate(known)}
    rows = [row_of.setdefault(tag, len(row_of)) for document in documents for tag in document]
    offsets = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    return Tagging(list(row_of), np.array(rows, dtype=np.int32), offsets.astype(np.int64))


class LearnedDocuments(Learned):
    """Document vectors among what a method learned; ``file`` is the name of their matrix."""

    def __init__(self, *, file: str, doc: str = "") -> None:
        super().__init__("DocumentVectors", doc, file=file)

    def pack(self, value: DocumentVectors) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The matrix, the labels as texts, and which of them are numbers."""
        numeric = np.array([isinstance(label, int) for label in value.labels], dtype=np.uint8)
        labels = packed_strings(list(map(str, value.labels)), "label")
        return {self.file: value.matrix, "numeric": numeric} | labels, {}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> DocumentVectors:
        """The vectors of the labels."""
        texts = unpacked_strings(arrays, "label")
        numeric = checked_array(arrays, "numeric", "labels", dtype="uint8", sizes=sizes).tolist()
        matrix = checked_array(arrays, self.file, "labels", "dim", sizes=sizes)
        labels = [int(x) if number else x for x, number in zip(texts, numeric, strict=True)]
        return DocumentVectors(labels, matrix)
