"""Vectors and neighbours by shards are those of one process."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import NotFittedError
from lessons_lib.counts import TfIdf
from lessons_lib.search.neighbours import ExactNeighbours
from lessons_lib.search.shards import ShardedNeighbours, encode_in_shards
from lessons_lib.text.shards import Shards, dask_client
from tests.text.inline_client import InlineClient

RNG = np.random.default_rng(0)
VECTORS = RNG.integers(-2, 3, (70, 4)).astype(float)     # many equal cosines
QUERIES = RNG.integers(-2, 3, (9, 4)).astype(float)
TEXTS = [" ".join(RNG.choice(["sea", "ship", "moon", "ox"], 5)) for _ in range(40)]


@pytest.mark.parametrize("n_shards", [1, 3, 8, 500])
@pytest.mark.parametrize("k", [1, 10, 70])
def test_neighbours_are_those_of_one_process(n_shards, k):
    near = ShardedNeighbours(InlineClient(), n_shards=n_shards).fit(VECTORS)
    for asked in (QUERIES, QUERIES[:2], QUERIES[:0]):
        ours, right = near.search(asked, k=k), ExactNeighbours().fit(VECTORS).search(asked, k=k)
        assert ours[0].tobytes() == right[0].tobytes() and ours[1].tolist() == right[1].tolist()


def test_a_file_of_vectors_is_read_where_the_worker_is(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS.astype(np.float32))
    ours = ShardedNeighbours(InlineClient()).fit(tmp_path / "v.npy").search(QUERIES, k=5)
    right = ExactNeighbours().fit(VECTORS.astype(np.float32)).search(QUERIES, k=5)
    assert ours[1].tolist() == right[1].tolist()


def test_texts_are_encoded_in_their_order():
    encoder = TfIdf().fit(TEXTS)
    shards = Shards.of_texts(TEXTS, InlineClient(), characters=30)
    assert encode_in_shards(encoder, shards).tobytes() == encoder.encode(TEXTS).tobytes()


def test_bad_input_names_what_is_wrong(tmp_path):
    client = InlineClient()
    with pytest.raises(TypeError, match="encoder"):
        encode_in_shards("TF-IDF", Shards.of_texts(TEXTS, client))
    with pytest.raises(ValueError, match="n_shards"):
        ShardedNeighbours(client, n_shards=0)
    near = ShardedNeighbours(client)
    with pytest.raises(NotFittedError):
        near.search(QUERIES)
    with pytest.raises(FileNotFoundError):
        near.fit(tmp_path / "no.npy")
    with pytest.raises(ValueError, match="vectors"):
        near.fit(VECTORS[:0])
    near.fit(VECTORS)
    for queries, k, held in ((QUERIES, 71, "k="), (QUERIES[:, :2], 1, "queries")):
        with pytest.raises(ValueError, match=held):
            near.search(queries, k=k)


@pytest.mark.slow
def test_workers_of_dask_find_the_same_after_one_was_killed():
    pytest.importorskip("distributed", reason="of the extra set dask")
    import os
    import signal

    with dask_client(workers=2) as client:
        near = ShardedNeighbours(client).fit(VECTORS)
        right = ExactNeighbours().fit(VECTORS).search(QUERIES, k=6)
        assert near.search(QUERIES, k=6)[1].tolist() == right[1].tolist()
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)   # with half the rows
        ours = near.search(QUERIES, k=6)
        assert ours[0].tobytes() == right[0].tobytes() and ours[1].tolist() == right[1].tolist()
