"""Bad input of the room: a row says what is called, which error comes, what its message holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lessons_lib import search
from lessons_lib.core import DamagedFile, DataWarning, NotFittedError, load_model, save_model
from lessons_lib.search import (CompactVectors, ExactNeighbours, FolderIndex, Hnsw, InvertedIndex,
                                LateInteraction, maxsim, neighbour_recall, reciprocal_rank_fusion,
                                rerank, rescored, split_passages)

from .conftest import Letters

T, V = TypeError, ValueError
X = np.eye(4)
TEXTS = ["the cat sat", "the dog sat down", "a bird"]


def words() -> InvertedIndex:
    return InvertedIndex().fit(TEXTS)


def near() -> ExactNeighbours:
    return ExactNeighbours().fit(X)


CALLS = [
    # words
    (lambda: InvertedIndex().search("cat"), NotFittedError, ["InvertedIndex is not fitted"]),
    (lambda: InvertedIndex().save("nowhere"), NotFittedError, ["InvertedIndex is not fitted"]),
    (lambda: len(InvertedIndex()), NotFittedError, ["not fitted"]),
    (lambda: InvertedIndex().fit([]), V, ["documents", "0 documents"]),
    (lambda: InvertedIndex().fit("a text"), T, ["documents", "one str"]),
    (lambda: InvertedIndex().fit(["", "?"]), V, ["0 tokens"]),
    (lambda: InvertedIndex(k1=-1).fit(TEXTS), V, ["k1=-1"]),
    (lambda: InvertedIndex(b=1.5).fit(TEXTS), V, ["b=1.5"]),
    (lambda: words().search(["cat"]), T, ["query=['cat']", "search_each"]),
    (lambda: words().search("cat", k=0), V, ["k=0"]),
    (lambda: words().search_each("cat"), T, ["documents", "one str"]),
    (lambda: words().why("cat", 3), V, ["text=3", "[0, 2]"]),
    # vectors
    *((lambda method=method: method.search(X), NotFittedError, ["not fitted"])
      for method in (ExactNeighbours(), Hnsw(), CompactVectors())),
    *((lambda method=method, x=x: method.fit(x), error, ["vectors", *held])
      for method in (ExactNeighbours(), CompactVectors())
      for x, error, held in ((np.zeros((0, 3)), V, [">= 1"]), ([1.0], V, ["2 axes"]),
                             ([["a"]], T, ["real numbers"]), ([[math.nan]], V, ["NaN"]))),
    (lambda: CompactVectors(bits=4).fit(X), V, ["bits=4", "1, 8 or 32"]),
    (lambda: CompactVectors(dim=5).fit(X), V, ["dim=5", "4 columns"]),
    (lambda: Hnsw(m=1).fit(X), V, ["m=1"]),
    (lambda: near().search(X, k=5), V, ["k=5", "[1, 4]"]),
    (lambda: near().search(X, k=True), T, ["k=True"]),
    (lambda: near().search(X[:, :3], k=1), V, ["queries", "4 columns"]),
    (lambda: near().search(X[0], k=1), V, ["queries[None]"]),
    (lambda: near().search(np.full((1, 4), math.inf), k=1), V, ["queries[0]", "NaN or infinity"]),
    (lambda: rescored(X, [[0]], X), V, ["rows", "4 queries"]),
    (lambda: rescored(X[:1], [[4]], X, k=1), V, ["rows holds 4", "[0, 3]"]),
    (lambda: rescored(X[:1], [[0, 1]], X, k=3), V, ["k=3"]),
    (lambda: neighbour_recall([[1]], np.empty((0, 3))), V, ["exact", "m >= 1"]),
    # rankings
    (lambda: reciprocal_rank_fusion([]), V, ["rankings holds 0"]),
    (lambda: reciprocal_rank_fusion("ab"), T, ["rankings='ab'"]),
    (lambda: reciprocal_rank_fusion([1, 2]), T, ["rankings[0]=1"]),
    (lambda: reciprocal_rank_fusion([[1, 2, 1]]), V, ["rankings[0]", "1 twice"]),
    (lambda: reciprocal_rank_fusion([[1]], weights=[1, 2]), V, ["weights", "a weight for each"]),
    (lambda: reciprocal_rank_fusion([[1]], weights=[-1]), V, ["weights[0]=-1"]),
    (lambda: reciprocal_rank_fusion([[1]], constant=-1), V, ["constant=-1"]),
    (lambda: rerank(5, ["a"], len), T, ["query=5"]),
    (lambda: rerank("q", "a", len), T, ["texts='a'"]),
    (lambda: rerank("q", ["a"], "judge"), T, ["score='judge'", "CrossEncoder"]),
    (lambda: rerank("q", ["a", "b"], lambda pairs: [1]), V, ["1 numbers for 2 pairs"]),
    (lambda: rerank("q", ["a"], lambda pairs: [math.nan]), V, ["score", "NaN"]),
    (lambda: maxsim(X, X[:, :2], [0, 4]), V, ["tokens", "4 columns"]),
    (lambda: maxsim(X, X, [0, 3]), V, ["offsets", "4 rows"]),
    (lambda: maxsim(X, X, [0, 3, 2, 4]), V, ["offsets", "rise"]),
    (lambda: maxsim(X, X, [0, 4], backend="tritton"), V, ["backend='tritton'"]),
    (lambda: LateInteraction("bert").fit(TEXTS), T, ["encoder='bert'", "load_encoder"]),
    (lambda: LateInteraction(Letters()).search("cat"), NotFittedError, ["not fitted"]),
    # passages and folders
    (lambda: split_passages(["a"]), T, ["text=['a']"]),
    (lambda: split_passages("a", size=0), V, ["size=0"]),
    (lambda: split_passages("a", size=5, overlap=5), V, ["overlap=5", "[0, 4]"]),
    (lambda: FolderIndex(Letters()).search("cat"), NotFittedError, ["update(folder)"]),
    (lambda: FolderIndex(Letters()).save("nowhere"), NotFittedError, ["update(folder)"]),
    (lambda: FolderIndex("bag").update("."), T, ["encoder='bag'", "load_encoder"]),
    (lambda: FolderIndex(Letters(), overlap=200).update("."), V, ["overlap=200"]),
    (lambda: FolderIndex(Letters(), encoding="klingon").update("."), V, ["'klingon'", "cp1252"]),
    *((lambda name=name: FolderIndex(Letters(), encoding=name).update("."), V,
       ["encoding=", "cp1252"]) for name in ("", "rot13", "base64", "undefined", "a\0b")),
    (lambda: FolderIndex(Letters()).update("/no/such/folder"), FileNotFoundError, ["such"]),
    (lambda: search.Index, AttributeError, ["has no 'Index'; it has"]),
]


@pytest.mark.parametrize(("call", "error", "held"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, held):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in held if word not in str(caught.value)] == [], caught.value


def test_a_folder_without_a_text_is_refused_and_says_what_was_there(tmp_path, folder, letters):
    index = FolderIndex(letters)
    index.update(folder)
    before = index.search("the cat")
    for name, content, held in (("nothing", None, "it is empty"), ("a.txt", b"", "a.txt: no word"),
                                ("b.txt", b"\0", "b.txt: binary"), ("c.png", b"", ".png: 1")):
        home = tmp_path / name.replace(".", "_")
        home.mkdir()
        if content is not None:
            (home / name).write_bytes(content)
        with pytest.raises(V, match=f"holds no text.*{held}.*Nothing was changed"):
            FolderIndex(letters).update(home)
    for file in folder.rglob("*.*"):
        file.unlink()
    with pytest.raises(V, match="holds no text"):
        index.update(folder)
    assert index.search("the cat") == before
    with pytest.raises(NotADirectoryError, match="expected a folder"):
        index.update(tmp_path / "a_txt" / "a.txt")


def test_a_question_that_is_no_text_is_refused_by_name(folder, letters):
    index = FolderIndex(letters)
    index.update(folder)
    for question, error, held in ((5, T, "question=5"), (" ", V, "question=' ' is blank"),
                                  ("a \ud83d", V, r"question=.*lone surrogate U\+D83D")):
        with pytest.raises(error, match=held):
            index.search(question)


@pytest.mark.parametrize(("place", "value"), [
    (("folder",), 5), (("encoder",), None), (("encoder",), 5), (("files",), 5), (("files",), []),
    (("files", 0), 5), (("files", 0), {}), (("files", 0, "size"), "x"), (("files", 0, "size"), 1e9),
    (("files", 0, "size"), 10**30), (("files", 0, "sha256"), None), (("words",), 5),
    (("files", 0, "name"), "dogs.md"), (("files", 0, "settled"), None)])
def test_an_index_whose_card_was_written_by_another_hand_is_refused(folder, letters, tmp_path,
                                                                    place, value):
    """With a right checksum; the files as the first version listed them."""
    index = FolderIndex(letters)
    index.update(folder)
    index.save(tmp_path / "index")
    settings, arrays, extra = load_model(tmp_path / "index", "FolderIndex")
    target = extra | {"files": [dict(entry) for entry in index._files]}
    card, (*path, last) = target, place
    for key in path:
        target = target[key]
    target[last] = value
    save_model(tmp_path / "index", "FolderIndex", settings=settings, arrays=arrays, extra=card)
    with pytest.raises(DamagedFile, match="index the folder again"):
        FolderIndex.load(tmp_path / "index", letters)


@pytest.mark.parametrize(("name", "value", "held"), [
    ("about_files", lambda a: a[:-1], "about_files"), ("file_offsets", lambda a: a[:-1], "file_"),
    ("words.posting_ends", lambda a: a[::-1], "posting_ends"),
    ("words.posting_texts", lambda a: a + 99, "posting_texts"),
    ("words.lengths", lambda a: a[:-1], "posting_texts|2 passages"),
    ("vectors", lambda a: a[:-1], "vectors"), ("vectors", lambda a: a * np.nan, "vectors"),
    ("file_of", lambda a: a + 9, "file_of"), ("spans", lambda a: a[:, :1], "spans"),
    ("passage_offsets", lambda a: a[:-1], "passage_offsets"),
])
def test_an_index_whose_parts_do_not_fit_is_refused(folder, letters, tmp_path, name, value, held):
    index = FolderIndex(letters)
    index.update(folder)
    index.save(tmp_path / "index")
    settings, arrays, extra = load_model(tmp_path / "index", "FolderIndex")
    save_model(tmp_path / "index", "FolderIndex", settings=settings, extra=extra,
               arrays=arrays | {name: value(arrays[name])})
    with pytest.raises(DamagedFile, match=held):
        FolderIndex.load(tmp_path / "index", letters)


# ------------------------------------------------------------------------------ too much

MANY = np.eye(1500)
TOO_MUCH = [
    *((lambda wrong=wrong: Hnsw(**wrong).fit(X).search(X, k=1), DataWarning,
       [f"{next(iter(wrong))}=1000000000", "4 vectors"])
      for wrong in ({"m": 10**9}, {"ef": 10**9}, {"ef_construction": 10**9})),
    (lambda: Hnsw(m=1000).fit(MANY), MemoryError, ["m=1000", "12.0 MB, 1.0 MB are free"]),
    (lambda: Hnsw(threads=10**9).fit(X), V, ["threads=1000000000", "[1, 1024]"]),
    (lambda: Hnsw(ef=2**63).fit(X).search(X, k=1), V, ["ef=9223372036854775808"]),
]


@pytest.mark.parametrize(("call", "error", "said"), TOO_MUCH)
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value
