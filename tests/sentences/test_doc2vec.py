"""Doc2Vec: documents of one kind come together, new ones find their place alone, runs repeat and go
on bit by bit, wrong tags are named.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import (DamagedFile, DataWarning, Encoder, TrainingDiverged)
from lessons_lib.sentences import Doc2Vec
from lessons_lib.text import Corpus, Tokenizer
from lessons_lib.words import window_method

TREE = {"objective": "hierarchical_softmax"}
MODELS = [{"model": "dbow"}, {"model": "dbow", "train_words": True}, {"model": "dm"},
          {"model": "dm", "combine": "sum"}, {"model": "dm", "combine": "concat", "window": 2},
          {"model": "dbow"} | TREE, {"model": "dm", "share_error": True} | TREE]
SMALL = {"dim": 12, "min_count": 1, "epochs": 8, "learning_rate": 0.05, "sample": 0.0, "window": 3}
SUBJECTS = ("sea", "field", "town")


def texts(n=240, seed=0):
    """Documents about three subjects; most words of a document are its subject's, the others
    anyone's.
    """
    rng = np.random.default_rng(seed)
    words = [[f"{subject}{i}" for i in range(10)] for subject in (*SUBJECTS, "any")]
    return [" ".join(words[i % 3 if own else 3][j]
                     for j, own in zip(rng.integers(0, 10, 30), rng.random(30) < 0.6, strict=True))
            for i in range(n)]


def fitted(documents=None, tags=None, **settings):
    return Doc2Vec(**SMALL | settings).fit(texts() if documents is None else documents, tags)


def same(one, two):
    """Whether two models have learned the same, bit for bit."""
    return (one.vectors_.tokens == two.vectors_.tokens
            and one.document_vectors_.labels == two.document_vectors_.labels
            and all(np.array_equal(x, y) for x, y in zip(learned(one), learned(two), strict=True)))


def learned(model):
    return (model.vectors_.matrix, model.document_vectors_.matrix, model.output_, model.counts_,
            model._edge, model.history_)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def right(found, known):
    """Share of vectors whose subject, document i having subject i mod 3, is that of the nearest
    mean.
    """
    means = unit(np.stack([known[i::3].mean(axis=0) for i in range(3)]))
    return float((np.argmax(unit(found) @ means.T, axis=1) == np.arange(len(found)) % 3).mean())


# ------------------------------------------------------------------------------ learning


@pytest.mark.parametrize("settings", MODELS[:4] + MODELS[5:])
def test_documents_of_one_subject_come_together_and_new_ones_find_them(settings):
    model = fitted(epochs=40, **settings)
    known = model.document_vectors_.matrix
    assert right(known, known) > 0.9
    assert right(model.encode(texts(30, seed=9)), known) > 0.8
    assert model.history_[-1] < model.history_[0] - 0.02


def test_what_is_learned_has_the_stated_shapes():
    model = fitted(["b a b c", "b a"] * 9)
    assert model.vectors_.tokens == ["b", "a", "c"] and model.counts_.tolist() == [27, 18, 9]
    documents = model.document_vectors_
    assert documents.matrix.shape == (18, 12) and documents.labels == list(range(18))
    assert model.output_.shape == (3, 12) and model.dim == 12
    assert fitted(["b a b c"] * 9, **TREE).output_.shape == (2, 12)
    assert fitted(["b a b c"] * 9, combine="concat", window=2).output_.shape == (3, 60)
    assert isinstance(model, Encoder) and model.encode(["a b"]).dtype == np.float32


def test_a_tag_that_documents_share_learns_from_all_of_them():
    subjects = [[SUBJECTS[i % 3]] for i in range(240)]
    model = fitted(tags=subjects, model="dbow", train_words=True, epochs=15)
    assert model.document_vectors_.labels == list(SUBJECTS)
    for subject in SUBJECTS:
        near = model.vectors_.most_similar(model.document_vectors_[subject], topn=5)
        assert all(word.startswith(subject) for word, _ in near)
    both = fitted(tags=[[i, SUBJECTS[i % 3]] for i in range(240)], model="dbow")
    near, far = (both.document_vectors_.similarity(0, label) for label in ("sea", "town"))
    assert len(both.document_vectors_) == 243 and near > far


def test_without_word_training_dbow_leaves_words_as_they_were_drawn():
    model = fitted(model="dbow")
    assert np.abs(model.vectors_.matrix).max() <= 1.0 / 12
    assert np.abs(model.document_vectors_.matrix).max() > 0.3


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("settings", MODELS)
def test_equal_settings_give_bitwise_equal_vectors(settings, threads):
    one, two, other = (fitted(epochs=2, threads=threads, seed=seed, **settings)
                       for seed in (3, 3, 4))
    assert same(one, two) and not same(one, other)


def test_a_corpus_and_its_texts_are_the_same():
    a, b = fitted(texts(30)), fitted(Corpus.from_texts(texts(30)))
    assert same(a, b)
    assert np.array_equal(a.infer(texts(5, seed=1)), a.infer(Corpus.from_texts(texts(5, seed=1))))


# ------------------------------------------------------------------------------ inference


@pytest.mark.parametrize("settings", MODELS)
def test_inference_leaves_every_trained_weight_bit_for_bit(settings):
    model = fitted(epochs=2, **settings)
    before = [x.copy() for x in learned(model)]
    state, _ = model._inference(None, None).state, model.infer(texts(20, seed=5))
    rows = state.inputs.clone(), state.outputs.clone()
    model.infer(texts(20, seed=6), epochs=5, learning_rate=0.2)
    assert all(np.array_equal(a, b) for a, b in zip(before, learned(model), strict=True))
    assert all((a == b).all() for a, b in zip(rows, (state.inputs, state.outputs), strict=True))


@pytest.mark.parametrize("settings", MODELS)
def test_a_text_has_the_same_vector_each_time_and_in_any_company(settings):
    model, new = fitted(epochs=2, **settings), texts(12, seed=2)
    whole = model.infer(new)
    assert len(np.unique(whole, axis=0)) == 12
    for other in (model.infer(new), model.infer(new[::-1], batch_size=1)[::-1],
                  np.concatenate([model.infer([text]) for text in new]),
                  model.set_params(threads=2).encode(new)):
        assert np.array_equal(whole, other)
    assert np.array_equal(*model.infer(["sea1 sea2", "sea1 unheard sea2"]))
    assert not np.array_equal(*model.infer(["sea1 sea2", "sea2 sea1"]))


def test_more_steps_bring_a_text_nearer_to_what_training_found():
    documents = texts()
    model = fitted(documents, model="dbow", epochs=40)
    known = unit(model.document_vectors_.matrix[:30])
    near = [float((unit(model.infer(documents[:30], epochs=epochs)) * known).sum(axis=1).mean())
            for epochs in (1, 5, 40)]
    assert near[0] < near[1] < near[2] and near[2] > 0.7


def test_T19_texts_without_a_known_word_are_zeros_with_one_warning():
    model = fitted(epochs=1)
    with pytest.warns(
            DataWarning,
            match=r"2 of 3 documents have no word with a vector \(first: documents\[1\]\)"
    ) as caught:
        found = model.encode(["sea1", "unheard of", ""])
    assert len(caught) == 1 and found[0].any() and not found[1:].any()
    with pytest.warns(DataWarning, match=r"1 of 1 documents.*zeros"):
        assert not model.infer(Corpus.from_texts(["unheard of"])).any()
    assert model.encode([]).shape == (0, 12)


def test_T04_documents_without_a_known_word_get_zeros_in_training_too():
    with pytest.warns(DataWarning,
                      match=r"1 of 3 tags have no known word in their documents \(first: 'x'\)"):
        model = fitted(["a b a b", "rare", "b a"], [["y"], ["x"], ["z"]], min_count=2)
    assert not model.document_vectors_["x"].any() and model.document_vectors_["y"].any()


# ------------------------------------------------------------------------------ going on


def test_more_documents_bring_new_tags_and_words_and_keep_the_old():
    model = fitted(model="dbow")
    tokens, old = model.vectors_.tokens.copy(), model.document_vectors_.matrix.copy()
    model.partial_fit(["sea1 whale sea2"] * 40)
    assert model.vectors_.tokens == [*tokens, "whale"] and len(model.history_) == 16
    assert model.document_vectors_.labels == list(range(280))
    assert np.array_equal(model.document_vectors_.matrix[:240], old)     # nobody read them again
    model.partial_fit(["town1 town2"] * 2, tags=[[5], ["new"]])
    assert model.document_vectors_.labels[-1] == "new"
    assert not np.array_equal(model.document_vectors_.matrix[5], old[5])
    assert same(fitted(), Doc2Vec(**SMALL).partial_fit(texts()))


def interrupted(step, documents, monkeypatch, **settings):
    """A model whose training was stopped by Ctrl-C in the middle of its part number ``step``."""
    from lessons_lib import kernels

    real, calls = kernels.document_update, []

    def stops(state, **options):
        result = real(state, **options)
        calls.append(result)
        if len(calls) == step:
            raise KeyboardInterrupt
        return result

    model = Doc2Vec(**SMALL | {"epochs": 3} | settings)
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "document_update", stops)
        with pytest.raises(KeyboardInterrupt):
            model.fit(documents)
    return model


@pytest.mark.parametrize(("step", "settings"), [(1, {}), (5, {}), (9, {}),
                                                (8, {"model": "dbow", "threads": 2}),
                                                (5, {"combine": "concat", "window": 2})])
def test_an_interrupted_run_goes_on_bitwise_as_if_it_had_not_been(step, settings, monkeypatch,
                                                                  tmp_path):
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 2500)
    documents = texts()
    interrupted(step, documents, monkeypatch, **settings).save(tmp_path / "m")
    model, whole = Doc2Vec.load(tmp_path / "m"), fitted(documents, epochs=3, **settings)
    done, seen = (step - 1) // 3, []
    assert len(model.history_) == done and not same(model, whole)
    model.resume(documents, on_epoch=lambda m: seen.append(len(m.history_)))
    assert same(model, whole) and seen == list(range(1 + done, 4))
    assert np.array_equal(model.encode(documents[:3]), whole.encode(documents[:3]))


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_ctrl_c_before_the_first_step_leaves_the_model_as_it_was(way, monkeypatch):
    from lessons_lib import kernels

    model, twin = (fitted(texts(30), epochs=2) for _ in range(2))

    def pressed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kernels, "DocumentState", pressed, raising=False)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, way)(["whale sea1"] * 9)
    for one in (model, twin):
        one.partial_fit(texts(6, seed=1))
    assert same(model, twin) and model.document_vectors_.labels == list(range(36))


@pytest.mark.parametrize("combine", ["mean", "concat"])
def test_settings_may_be_small_numbers_of_numpy(combine, tmp_path):
    plain = {"dim": 12, "window": 70, "epochs": 2, "seed": 250, "threads": 1,
             "learning_rate": 0.03125, "negatives": 9}
    kinds = {"learning_rate": np.float32, "seed": np.uint8, "negatives": np.uint8}
    small = {name: kinds.get(name, np.int8)(value) for name, value in plain.items()}
    models = [fitted(texts(12), combine=combine, **settings) for settings in (plain, small)]
    models[1].save(tmp_path / "m")
    models.append(Doc2Vec.load(tmp_path / "m"))
    for model in models:
        model.partial_fit(texts(3, seed=1))
    for other in models[1:]:
        assert same(models[0], other)
        assert np.array_equal(models[0].encode(texts(3)), other.encode(texts(3)))


def test_other_texts_tags_and_shapes_are_refused(monkeypatch):
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 2500)
    stopped = interrupted(4, texts(), monkeypatch)
    for documents, tags in ((texts(90), None), (texts(), [[i // 2] for i in range(240)]),
                            (texts(500), None)):
        with pytest.raises(ValueError, match="not those of the interrupted run.*other "
                                             "tags.*partial_fit"):
            stopped.resume(documents, tags)
    for changed in ({"dim": 5}, {"combine": "concat"}, {"objective": "hierarchical_softmax"}):
        before = stopped.get_params()
        with pytest.raises(ValueError, match="fit anew"):
            stopped.set_params(**changed).infer(["sea1"])
        stopped.set_params(**before)


@pytest.mark.parametrize("settings", MODELS)
def test_a_saved_model_infers_and_learns_on_as_if_it_had_not_been_saved(settings, tmp_path):
    n_tags = 1 if "combine" in settings else 2
    tags = [[i, "odd" if i % 2 else "even"][:n_tags] for i in range(240)]
    model = fitted(tags=tags, epochs=2, tokenizer=Tokenizer(lowercase=False), **settings)
    model.save(tmp_path / "m")
    again = Doc2Vec.load(tmp_path / "m")
    assert same(model, again) and repr(again) == repr(model)
    assert np.array_equal(again.encode(texts(5, seed=3)), model.encode(texts(5, seed=3)))
    for one in (model, again):
        one.partial_fit(texts(30, seed=1))
    assert same(model, again)


def test_a_model_whose_numbers_do_not_fit_is_damaged_and_a_function_is_not_saved(tmp_path):
    model = fitted(epochs=1)
    model._edge = model._edge[:, :-1]
    model.save(tmp_path / "m")
    with pytest.raises(DamagedFile, match="edge"):
        Doc2Vec.load(tmp_path / "m")
    model.output_ = model.output_[:-1]
    with pytest.raises(ValueError, match="fit anew"):
        model.save(tmp_path / "n")
    with pytest.raises(TypeError, match="tokenizer.*cannot be saved"):
        fitted(epochs=1, tokenizer=str.split).save(tmp_path / "f")


def test_P05_a_rate_that_diverges_is_told_in_training_and_in_inference():
    model = Doc2Vec(dim=12, min_count=1, learning_rate=1000.0)
    with pytest.raises(TrainingDiverged, match="epoch 1.*smaller rate"):
        model.fit(texts())
    assert np.isfinite(model.document_vectors_.matrix).all()
    model = fitted(epochs=3)
    with pytest.raises(TrainingDiverged, match="inference diverged.*learning_rate=1e"):
        model.infer(["sea1 sea2 sea3"], learning_rate=1e6)


def test_P21_wrong_tags_leave_a_former_fit():
    model = fitted(["a b", "b a"], epochs=1)
    before = model.document_vectors_
    with pytest.raises(TypeError, match="tags"):
        model.fit(["a b", "b a"], ["a", "b"])
    assert model.document_vectors_ is before


def test_P22_tags_may_be_any_numbers():
    model = fitted(["a b a", "b a b", "a a"], [[10**9], [-1], ["third"]], epochs=1)
    assert model.document_vectors_.matrix.shape == (3, 12) and model.document_vectors_[10**9].any()
