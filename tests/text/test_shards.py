"""Texts in shards give what one process finds, to the last byte, and a worker that is killed costs
time only."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable, DataWarning
from lessons_lib.counts import BM25, BagOfWords, Cooccurrences, TfIdf, cooccurrence
from lessons_lib.counts.tally import fit_in_shards, fit_transform_in_shards
from lessons_lib.search import InvertedIndex
from lessons_lib.text import Corpus
from lessons_lib.text.sharded_corpus import ShardedCorpus, corpus_in_shards
from lessons_lib.text.shards import FileShard, Shards, TextShard, dask_client, merged
from tests.text.inline_client import InlineClient

RNG = np.random.default_rng(0)
WORDS = [f"w{'é' * (i % 3)}{i}" for i in range(200)]
TEXTS = [" ".join(WORDS[i] for i in RNG.zipf(1.4, RNG.integers(2, 30)) % 200) for _ in range(120)]


def same_bytes(a, b):
    for name in ("data", "indices", "indptr"):
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), name


def concatenated(a, b):
    return a + b


# ---------------------------------------------------------------- what does not need Dask


@given(st.lists(st.integers(), min_size=1, max_size=40))
def test_a_tree_of_merges_keeps_the_order_of_the_parts(parts):
    client = InlineClient()
    assert merged(client, alone, parts, concatenated) == parts
    assert client.tasks == 2 * len(parts) - 1    # one for each part, and one less to merge them


def alone(part):
    return [part]


def test_no_part_and_what_a_part_raises_come_to_the_caller():
    with pytest.raises(ValueError, match="parts"):
        merged(InlineClient(), alone, [], concatenated)
    with pytest.raises(ZeroDivisionError):
        merged(InlineClient(), partial(divmod, 1), [0], concatenated)


@pytest.mark.parametrize("method, settings", [
    (BagOfWords, {}), (BagOfWords, {"ngram_range": (1, 3), "min_df": 2, "max_features": 50}),
    (BagOfWords, {"ngram_range": (2, 2), "max_df": 0.5}), (BagOfWords, {"token_pattern": "[0-9]+"}),
    (TfIdf, {"analyzer": "char_wb", "ngram_range": (2, 4)}), (TfIdf, {"sublinear_tf": True}),
    (BM25, {"b": 0.5}), (InvertedIndex, {})])
@pytest.mark.parametrize("characters", [1, 700])
def test_counts_are_those_of_one_process_to_the_last_byte(method, settings, characters):
    shards = Shards.of_texts(TEXTS, InlineClient(), characters=characters)
    assert len(shards.parts) > 5
    ours, right = method(**settings), method(**settings)
    same_bytes(fit_transform_in_shards(ours, shards), right.fit_transform(TEXTS))
    assert list(ours.vocabulary_.items()) == list(right.vocabulary_.items())
    same_bytes(ours.transform(TEXTS[:9]), right.transform(TEXTS[:9]))
    same_bytes(fit_in_shards(method(**settings), shards).transform(TEXTS[:9]),
               right.transform(TEXTS[:9]))
    if method is InvertedIndex:
        assert ours.search_each(TEXTS[:5]) == right.search_each(TEXTS[:5])


@given(st.lists(st.text("ab \n", max_size=8), min_size=1, max_size=12), st.integers(1, 20))
def test_any_texts_and_any_cut_give_the_same_corpus(texts, characters):
    texts = ["a", *texts]
    shards = Shards.of_texts(texts, InlineClient(), characters=characters)
    with pytest.warns(DataWarning) if not all(text.strip() for text in texts) else nothing():
        ours = corpus_in_shards(shards)
    with pytest.warns(DataWarning) if not all(text.strip() for text in texts) else nothing():
        right = Corpus.from_texts(texts)
    assert ours.vocabulary.tokens == right.vocabulary.tokens
    assert ours.token_ids.tobytes() == right.token_ids.tobytes()
    assert ours.offsets.tobytes() == right.offsets.tobytes()


class nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


@pytest.mark.parametrize("weighting", ["uniform", "harmonic"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_cooccurrence_is_that_of_one_process_to_the_last_byte(weighting, symmetric):
    corpus = Corpus.from_texts(TEXTS, min_count=3)
    shards = ShardedCorpus.of(Shards.of_texts(TEXTS, InlineClient(), characters=500), min_count=3)
    assert shards.vocabulary.tokens == corpus.vocabulary.tokens
    assert shards.n_tokens == len(corpus.token_ids)
    how = {"symmetric": symmetric, "weighting": weighting}
    same_bytes(cooccurrence(shards, 4, **how), cooccurrence(corpus, 4, **how))
    ours, right = (Cooccurrences.from_corpus(c, 4, **how) for c in (shards, corpus))
    assert ours.n_tokens == right.n_tokens
    for name in ("offsets", "columns", "values"):
        assert getattr(ours, name).tobytes() == getattr(right, name).tobytes()
    # a window beyond the text, in which a unit must be small enough for all shards together
    with pytest.warns(DataWarning, match="window"):
        wide = cooccurrence(shards, 5000, weighting=weighting)
    with pytest.warns(DataWarning, match="window"):
        same_bytes(wide, cooccurrence(corpus, 5000, weighting=weighting))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_a_file_is_cut_where_lines_end(tmp_path, encoding, size):
    lines = ["één", "", "twee drie", "vier\r", "", "vijf"]
    path = tmp_path / "a.txt"
    path.write_bytes("\n".join(lines).encode(encoding))
    if encoding == "utf-8-sig":
        encoding = "utf-8"                       # a mark at the beginning, as Windows writes it
    parts = Shards.of_file(path, None, encoding=encoding, size=size).parts
    assert [text for part in parts for text in part.texts()] == [line.removesuffix("\r")
                                                                 for line in lines]
    assert parts[0].begin == 0 and parts[-1].end == path.stat().st_size
    assert all(a.end == b.begin for a, b in pairwise(parts))


def test_bad_input_names_what_is_wrong(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\xff\n")
    with pytest.raises(ValueError, match="byte 3"):
        FileShard(str(path), 2, 5).texts()
    with pytest.raises(ValueError, match="encoding"):
        Shards.of_file(path, None, encoding="utf-16")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ValueError, match="0 documents"):
        Shards.of_file(tmp_path / "empty", None)
    with pytest.raises(TypeError, match="texts"):
        Shards.of_texts("one", None)
    blank = Shards([TextShard(["", " "])], InlineClient())
    for fit in (partial(fit_in_shards, BagOfWords()), corpus_in_shards, ShardedCorpus.of):
        with pytest.raises(ValueError, match="0 tokens"):
            fit(blank)
    with pytest.warns(DataWarning, match=r"2 of 3 documents have no token .*documents\[1\]"):
        fit_in_shards(BagOfWords(), Shards([TextShard(["aa"]), *blank.parts], InlineClient()))
    with pytest.raises(ValueError, match="vocabulary"):
        fit_in_shards(BagOfWords(vocabulary=["aa"]), blank)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BackendUnavailable, match=r'"\.\[dask\]"'), dask_client():
        pass


# ---------------------------------------------------------------- two processes, one killed


@dataclass(frozen=True)
class KillsOnce:
    """Texts at whose first reading the process that reads them is killed."""

    held: list[str]
    marker: str

    def texts(self):
        if not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.held


@pytest.mark.slow
def test_a_killed_worker_costs_time_only(tmp_path):
    pytest.importorskip("distributed", reason="of the extra set dask")
    with dask_client(workers=2) as client:
        pids = set(client.run(os.getpid).values())
        parts = Shards.of_texts(TEXTS, client, characters=300).parts

        def with_a_killer(name):
            at = len(parts) - 2                  # when results of others are lost with the worker
            killer = KillsOnce(parts[at].held, str(tmp_path / name))
            return Shards([*parts[:at], killer, *parts[at + 1 :]], client)

        ours, right = BM25(), BM25()
        same_bytes(fit_transform_in_shards(ours, with_a_killer("one")), right.fit_transform(TEXTS))
        assert (tmp_path / "one").exists()
        corpus = ShardedCorpus.of(with_a_killer("two"))
        assert (tmp_path / "two").exists()
        same_bytes(cooccurrence(corpus, weighting="harmonic"),
                   cooccurrence(Corpus.from_texts(TEXTS), weighting="harmonic"))
        assert not pids <= set(client.run(os.getpid).values())


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    dask = pytest.importorskip("dask", reason="of the extra set dask")
    with (dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
          pytest.raises(BackendUnavailable, match="127.0.0.1:9"),
          dask_client("tcp://127.0.0.1:9")):
        pass
