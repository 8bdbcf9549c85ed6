"""A contextual encoder: rows in, rows out, whatever stands beside them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contextual import Pooling, load_encoder
from lessons_lib.contextual import encoder as encoder_module
from lessons_lib.core import DataWarning, Encoder


def apart(a, b):
    """The largest difference of two rows, in lengths of a row."""
    return float((np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1)).max())


def test_it_is_an_encoder(encoder, sentences):
    found = encoder.encode(sentences)
    assert isinstance(encoder, Encoder) and found.shape == (30, encoder.dim) == (30, 24)
    assert found.dtype == np.float32
    assert encoder.encode([]).shape == (0, 24) and encoder.layers == 3 and encoder.longest == 64
    assert np.array_equal(encoder.encode(iter(sentences)), found)              # the same bits (42)
    assert "3 blocks x 24, last, 64 pieces" in repr(encoder)


def test_vectors_are_those_of_transformers(encoder, sentences, bert_folder):
    from transformers import AutoTokenizer, BertModel

    theirs = BertModel.from_pretrained(bert_folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(bert_folder)
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = theirs(**batch, output_hidden_states=True).hidden_states
        mask = batch["attention_mask"][:, :, None]
    for name, read in (("last", (3,)), ("first-last", (1, 3)), ("static-last", (0, 3)),
                       ("last-2", (2, 3)), ("all", range(4))):
        layers = torch.stack([states[number] for number in read]).mean(0)
        expected = ((layers * mask).sum(1) / mask.sum(1)).numpy()
        encoder.pooling = name
        assert apart(encoder.encode(sentences), expected) <= 1e-6


def test_E15_another_batch_changes_a_vector_by_a_millionth_at_most(encoder, sentences):
    whole = encoder.encode(sentences)
    alone = np.concatenate([encoder.encode([text]) for text in sentences])
    assert apart(whole, alone) <= 1e-6
    assert apart(encoder.encode(sentences[::-1], batch_size=4)[::-1], alone) <= 1e-6


def test_E15_batch_invariant_vectors_have_the_same_bits(bert_folder, sentences):
    encoder = load_encoder(bert_folder, device="cpu", batch_invariant=True)
    whole = encoder.encode(sentences)
    assert np.array_equal(encoder.encode(sentences[::-1], batch_size=7)[::-1], whole)
    assert all(np.array_equal(encoder.encode([text])[0], vector)
               for text, vector in zip(sentences[:6], whole, strict=False))


def test_several_poolings_at_once_are_those_one_by_one(encoder, sentences):
    chosen = ["cls", "pooler", "max", "last-2", Pooling("mean", 1),
              Pooling("last", special_tokens=False)]
    with pytest.warns(DataWarning,
                      match=r"1 of 30 texts have no token to pool \(first: texts\[29\]\)"):
        found = encoder.encode_each(sentences, chosen)
    for pooling, vectors in zip(chosen[:4], found, strict=False):
        encoder.pooling = pooling
        assert apart(vectors, encoder.encode(sentences)) <= 1e-6
    encoder.pooling, encoder.layer = "mean", 1
    assert apart(found[4], encoder.encode(sentences)) <= 1e-6


def test_E12_special_tokens_are_left_out_of_means_and_then_an_empty_text_is_a_zero_row(
        encoder, sentences):
    encoder.special_tokens = False
    with pytest.warns(DataWarning, match=r"1 of 2 texts.*texts\[1\].*zeros"):
        found = encoder.encode(["the sea", ""])
    assert not found[1].any() and found[0].any()
    inner = [text for text in sentences if text]
    for state, vector in zip(encoder.hidden_states(inner, layers=3), encoder.encode(inner),
                             strict=True):
        assert np.abs(state.vectors[0][1:-1].mean(0) - vector).max() <= 1e-6


def test_E09_a_text_that_is_too_long_is_cut_with_one_warning(bert_folder):
    encoder = load_encoder(bert_folder, device="cpu", max_length=6)
    long = "sea field ships sail cows graze"
    with pytest.warns(DataWarning, match=r"2 of 4 texts have more than max_length=6 tokens.*first: "
                                         r"texts\[1\], \d+ tokens") as heard:
        found = encoder.encode(["sea", long, long + " sea", ""])
    assert len(heard) == 1 and np.array_equal(found[1], found[2])


def test_E14_nothing_space_and_text_spelt_like_special_tokens(encoder):
    found = encoder.encode(["", " \t\n", "[SEP]", "[CLS] sea [MASK] [PAD]", "sea"])
    assert np.isfinite(found).all() and np.array_equal(found[0], found[1])
    assert not np.array_equal(found[2], found[0])
    state = next(encoder.hidden_states(["sea [SEP] field"]))
    assert state.pieces.count("[SEP]") == 1
    assert state.special.tolist() == [True] + [False] * (len(state.pieces) - 2) + [True]


def test_ids_are_read_as_texts_are(encoder, sentences):
    rows = [state.ids.tolist() for state in encoder.hidden_states(sentences, layers=0)]
    assert apart(encoder.encode_ids(rows), encoder.encode(sentences)) <= 1e-6
    longest = max(map(len, rows))
    padded, mask = (np.array([[*make(row), *[0] * (longest - len(row))] for row in rows])
                    for make in (list, lambda row: [1] * len(row)))
    assert apart(encoder.encode_ids(padded, mask=mask), encoder.encode(sentences)) <= 1e-6


def test_E12_a_row_without_a_token_is_zero_and_a_hidden_token_is_not_seen(encoder):
    with pytest.warns(DataWarning, match=r"1 of 2 texts.*texts\[1\]"):
        found = encoder.encode_ids([[2, 9, 3], [2, 3, 0]], mask=[[1, 1, 1], [0, 0, 0]])
    assert not found[1].any()
    assert np.array_equal(encoder.encode_ids([[2, 9, 7, 3]], mask=[[1, 1, 0, 1]]),
                          encoder.encode_ids([[2, 9, 8, 3]], mask=[[1, 1, 0, 1]]))


@pytest.mark.parametrize("kept", [1, 24 * 4 * 40, 1 << 24])
def test_hidden_states_come_in_order_and_pool_to_the_vectors(encoder, sentences, monkeypatch, kept):
    monkeypatch.setattr(encoder_module, "NUMBERS_KEPT", kept)
    states = list(encoder.hidden_states(sentences))
    assert len(states) == 30
    assert all(state.vectors.shape == (4, len(state.pieces), 24) for state in states)
    pooled = np.stack([state.vectors[3].mean(0) for state in states])
    assert apart(pooled, encoder.encode(sentences)) <= 1e-6
    assert states[0].pieces[0] == "[CLS]"
    assert [encoder.pieces[i] for i in states[0].ids] == states[0].pieces
    both, last = (next(encoder.hidden_states(sentences, layers=layers)).vectors
                  for layers in ([3, 0], 3))
    assert len(both) == 2 and len(last) == 1 and np.array_equal(both[0], last[0])
    assert list(encoder.hidden_states([])) == []


def test_the_word_table_is_a_copy_of_the_raw_vectors(encoder, pieces):
    table = encoder.word_table
    assert table.shape == (len(pieces), 24) and encoder.pieces == pieces.pieces
    assert encoder.piece_counts.tolist() == list(range(len(pieces)))
    before = encoder.encode(["sea"])
    table[:] = 0
    assert np.array_equal(encoder.encode(["sea"]), before)


@pytest.mark.parametrize("bad", ["inf", "nan"])
def test_V01_what_is_not_finite_is_not_handed_out(encoder, bad):
    encoder.reader.word_table.data[9] = float(bad)
    words = r"NaN or infinity for 1 texts \(first: texts\[0\]\)"
    with pytest.raises(ValueError, match=words):
        encoder.encode_ids([[2, 9, 3], [2, 8, 3]])
    encoder.reader.word_table.data[:] = float(bad)
    with pytest.raises(ValueError, match=words):
        next(encoder.hidden_states(["sea"]))


def test_a_step_can_follow(encoder, sentences):
    class Halved:
        def transform(self, vectors):
            return vectors / 2

    assert np.array_equal((encoder | Halved()).encode(sentences), encoder.encode(sentences) / 2)


def test_E21_what_does_not_fit_says_what_may(encoder, sentences, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 3e9)
    with monkeypatch.context() as during:
        during.setattr(type(encoder.reader), "read", full)
        with pytest.raises(torch.OutOfMemoryError,
                           match=r"8 texts of up to \d+ tokens.*3.0 GB.*batch_size=4"):
            encoder.encode(sentences, batch_size=8)
    assert encoder.encode(sentences).shape == (30, 24)


def test_42_a_model_in_training_is_read_without_dropout_and_trains_on(encoder, sentences):
    model, expected = encoder.reader.model, encoder.encode(sentences)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    model.train()
    assert np.array_equal(encoder.encode(sentences), expected) and model.training
    assert all(p.requires_grad for p in model.parameters())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_gpu_gives_the_vectors_of_the_processor(bert_folder, sentences):
    expected = load_encoder(bert_folder, device="cpu").encode(sentences)
    for precision, most in (("float32", 1e-5), (None, 0.05)):
        found = load_encoder(bert_folder, device="cuda", precision=precision)
        assert found.reader.dtype == (torch.float32 if precision else torch.bfloat16)
        assert apart(found.encode(sentences), expected) <= most
