"""Topics whose E steps were done in shards are those of one process, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.text.shards import dask_client
from lessons_lib.topics import OnlineLDA
from tests.text.inline_client import InlineClient

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(0.3, 1.0, (90, 60))).astype(np.int32)
COUNTS[7] = 0                                    # a document without words
MORE = RNG.poisson(0.4, (30, 60))


def learned(model):
    """All that a model has learned, after each way to learn."""
    model.fit(COUNTS)
    epochs = [model.lambda_, model.gamma_, np.array(model.bound_), model.doc_topic_]
    model.resume(COUNTS, n_epochs=1)
    if model.learning == "online":
        model.partial_fit(MORE)
    return [*epochs, model.lambda_, model.gamma_, model.transform(MORE)]


@pytest.mark.filterwarnings("ignore:1 of 90 documents")
@pytest.mark.parametrize("learning", ["online", "batch"])
@pytest.mark.parametrize("n_shards", [1, 3, 1000])
def test_topics_do_not_tell_how_documents_were_shared_out(learning, n_shards):
    settings = {"n_topics": 5, "learning": learning, "n_epochs": 2, "batch_size": 40}
    client = InlineClient()
    ours = learned(OnlineLDA(**settings).over(client, n_shards=n_shards))
    for mine, right in zip(ours, learned(OnlineLDA(**settings)), strict=True):
        assert np.abs(mine - right).max() <= 1e-10       # the promise
        assert mine.tobytes() == right.tobytes()         # what holds
    assert client.tasks >= 4 * min(n_shards, 30)         # E steps went to the client


def test_a_model_forgets_its_client_and_a_number_of_shards_is_checked(tmp_path):
    client = InlineClient()
    model = OnlineLDA(2, n_epochs=1).over(client).fit(MORE)
    model.save(tmp_path / "m")
    done = client.tasks
    OnlineLDA.load(tmp_path / "m").transform(MORE)
    model.over(None).transform(MORE)
    assert client.tasks == done > 0
    with pytest.raises(ValueError, match="n_shards"):
        model.over(client, n_shards=0)


@pytest.mark.slow
def test_workers_of_dask_give_the_same_topics():
    pytest.importorskip("distributed", reason="of the extra set dask")
    settings = {"n_topics": 5, "n_epochs": 1, "batch_size": 60}
    with dask_client(workers=2) as client:
        ours = OnlineLDA(**settings).over(client).fit(MORE)
    assert ours.lambda_.tobytes() == OnlineLDA(**settings).fit(MORE).lambda_.tobytes()


@pytest.mark.filterwarnings("ignore:1 of 90 documents")
@pytest.mark.parametrize("learning", ["online", "batch"])
@pytest.mark.parametrize("client", [None, InlineClient()])
def test_a_fit_that_was_saved_after_an_epoch_goes_on_to_the_same_bits(tmp_path, learning, client):
    settings = {"n_topics": 5, "learning": learning, "n_epochs": 4, "batch_size": 40}
    right, done = OnlineLDA(**settings).over(client), []

    def saved(model):
        done.append(len(model.bound_))
        model.save(tmp_path / str(done[-1]))

    right.fit(COUNTS, on_epoch=saved)
    assert done == [1, 2, 3]                      # the last one is the model itself
    for epochs in done:
        ours = OnlineLDA.load(tmp_path / str(epochs)).over(client)
        ours.resume(COUNTS, n_epochs=4 - epochs)
        for name in ("lambda_", "gamma_", "doc_topic_", "topic_share_"):
            assert getattr(ours, name).tobytes() == getattr(right, name).tobytes()
        assert ours.bound_ == right.bound_


def test_a_fit_that_stops_between_epochs_leaves_what_is_whole(tmp_path):
    def stops(model):
        raise OSError("no space left")

    model = OnlineLDA(2, n_epochs=3)
    with pytest.raises(OSError, match="no space"):
        model.fit(MORE, on_epoch=stops)
    right = OnlineLDA(2, n_epochs=3).fit(MORE)
    assert model.resume(MORE, n_epochs=2).lambda_.tobytes() == right.lambda_.tobytes()
