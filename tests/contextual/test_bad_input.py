"""What the room is given wrongly: the class of the error, and the words that its message holds."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from lessons_lib.contextual import (BertSize, ContextualEncoder, LessonBert, Pooling, Recipe,
                                    TokenStream, WordGuesser, WordPiece, load_encoder,
                                    load_guesser, named_encoder, prepare_tokens, pretrain,
                                    table_statistics)
from lessons_lib.contextual.numbering import numbered_rows
from lessons_lib.contextual.characters import character_pieces
from lessons_lib.core import DamagedFile

V, T, D = ValueError, TypeError, DamagedFile
TABLE = np.random.default_rng(0).normal(size=(60, 8))


def check(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == []


def numbered(rows, mask=None):
    return lambda: numbered_rows(rows, mask, vocabulary=10, longest=6)


def pooled(**options):
    return lambda: Pooling(**options).states(4)


@pytest.mark.parametrize(("call", "error", "words"), [
    (numbered([[2, 3], [2, 9, -1]]), V, ["rows[1][2]=-1", "10 tokens"]),                 # E11
    (numbered([[2, 10]]), V, ["rows[0][1]=10"]),
    (numbered([[1] * 7]), V, ["rows[0] has 7 tokens", "at most 6"]),
    (numbered([[2, 9, 3], [2, 3]], [[1, 1]]), V, ["mask has 1 rows and rows has 2"]),    # E12
    (numbered([[2, 9, 3], [2, 3]], [[1] * 3] * 2), V, ["mask[1] has 3 entries", "rows[1]"]),
    (numbered([[2, 9, 3], [2, 3]], [[1, 2, 1], [1, 1]]), V, ["mask holds 2"]),
    *[(numbered(rows), T, ["rows"])                                                      # E13
      for rows in ("a text", 5, None, ["a text"], [[1.5]], [[[1]]], [None])],
    (lambda: character_pieces(["   "]), V, ["no character"]),
    (lambda: character_pieces("花呗"), T, ["texts"]),
    (lambda: BertSize(90, dim=10, heads=4), V, ["dim=10", "heads=4", "multiple"]),
    (pooled(name="last-5"), V, ["needs 5 blocks; this model has 4"]),
    (pooled(name="cls", layer=5), V, ["layer=5"]), (pooled(layer=-1), V, ["layer=-1"]),
    (pooled(name="lst"), V, ["Did you mean 'last'"]), (pooled(name="last-0"), V, ["unknown"]),
    (pooled(name="first-last", layer=2), V, ["layers are fixed"]),
    (pooled(name="cls", special_tokens=False), V, ["reads [CLS]"]),
    (lambda: ContextualEncoder.from_sentence_transformers("all-MiniLM-L6-v2"), T,
     ["expected a SentenceTransformer"]),
    *[(lambda name=name: load_encoder(name), V, ["name=", "Names: ", "lesson-bert"])     # F15
      for name in ("x" * 5000, "x" * 200, "a--b", "a.", "./a\0b")],
    (lambda: load_encoder(np.array(["lesson-bert", "minilm"])), T, ["is ndarray", "a path"]),
    (lambda: named_encoder("lesson-brt"), V, ["Did you mean 'lesson-bert'"]),
    (lambda: table_statistics(TABLE, np.arange(3)), V, ["counts has 3 entries"]),
    (lambda: table_statistics(TABLE, np.zeros(60, int)), V, ["expected >= 2"]),
    (lambda: WordPiece.train(["", " \n"]), V, ["texts hold 0 tokens in 2 documents"]),    # T03
    (lambda: WordPiece.train(["the sea"] * 3, size=10), V, ["size=10 is too small", "letters"]),
    (lambda: prepare_tokens([], "x"), T, ["tokenizer='x' is str", "a WordPiece"]),
    *[(lambda wrong={name: value}: Recipe(**wrong), error, [name]) for name, value, error in (
        ("batch", 0, V), ("accumulate", 33, V), ("dropout_from", 1.1, V), ("learning_rate", 0.0, V),
        ("precision", "half", V), ("masked", 0.9, V), ("row", 3, V), ("seed", -1, V),
        ("whole_words", 1, T))],
    (lambda: pretrain("text", "nowhere"), T, ["stream='text' is str", "a TokenStream"]),
])
def test_what_cannot_be_is_named_with_what_is_allowed(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize(("use", "error", "words"), [
    *[(lambda e, given=given: e.encode(given), T, words) for given, words in (           # E13
        ("one text", ["one str"]), (None, ["NoneType"]), (5, ["int"]), (b"", ["bytes"]),
        (["a", None], ["texts[1]"]), (["a", 5], ["texts[1]=5 is int"]),
        (["a", b""], ["texts[1] is bytes"]), (["the", ["cat"]], ["texts[1]", "list of tokens"]),
        ([["the", "cat"]], ["texts[0]", "list of tokens"]),
        ([("the", "cat")], ["texts[0]", "tuple"]))],
    *[(lambda e, it={name: value}: e.set_params(**it).encode(["sea"]), error, [name])
      for name, value, error in (("truncation", "cut", V), ("normalize", 1, T), ("layer", 9, V),
                                 ("batch_invariant", None, T), ("pooling", "first", V),
                                 ("special_tokens", 1, T))],
    *[(lambda e, size=size: e.encode(["sea"], batch_size=size), error, ["batch_size"])
      for size, error in ((0, V), (-1, V), (1.5, T))],
    *[(lambda e, layers=layers: e.hidden_states(["sea"], layers=layers), T, [words])
      for layers, words in ((2.0, "layers=2.0 is float"), ("12", "layers[0]='1' is str"),
                            (True, "layers=True is bool"))],
    *[(lambda e, given=given: e.encode_each(["sea"], given), T, ["poolings=", "list of poolings"])
      for given in ("cls", None, 5, Pooling("cls"))],
    (lambda e: e.encode_each(["sea"], ["last-" + "9" * 5000]), V, ["pooling='last-999"]),
    (lambda e: e.encode_each(["sea"], []), V, ["0 poolings"]),
    (lambda e: e.hidden_states(["sea"], layers=4), V, ["layers=4", "[0, 3]"]),
    (lambda e: e.hidden_states(["sea"], layers=[]), V, ["0 numbers"]),
    (lambda e: e.encode_ids([[2, 999, 3]]), V, ["rows[0][1]=999"]),                      # E11
    (lambda e: e.set_params(pooling="cls").encode_ids([[0, 2, 9, 3]], mask=[[0, 1, 1, 1]]), V,
     ["mask[0][0] is 0"]),
])
def test_an_encoder_says_what_it_cannot_read(encoder, use, error, words):
    check(lambda: use(encoder), error, words)


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"seed": 1}, V, ["seed=1 is for name='lesson-bert-random' only"]),
    ({"device": "tpu"}, V, ["device"]), ({"precision": "float16"}, V, ["precision"]),
    ({"truncation": "cut"}, V, ["truncation"]), ({"pooling": "lst"}, V, ["pooling"]),
    ({"layer": 4}, V, ["layer=4"]), ({"pooling": ""}, V, ["pooling='' is unknown"]),     # P27
    ({"precision": ""}, V, ["precision='' is unknown"]),
    ({"max_length": 2}, V, ["max_length=2", "[3, 64]"]), ({"max_length": 65}, V, ["[3, 64]"]),
    ({"max_length": 4.0}, T, ["float"]), ({"max_length": True}, T, ["bool"])])           # E10
def test_arguments_are_looked_at(bert_folder, options, error, words):
    check(lambda: load_encoder(bert_folder, **options), error, words)


def test_E09_a_text_that_is_too_long_is_refused_where_that_is_wanted(bert_folder):
    encoder = load_encoder(bert_folder, device="cpu", max_length=6, truncation="error")
    check(lambda: encoder.encode(["sea", "sea " * 9]), V, ["texts[1] has 11", "max_length=6"])


@pytest.mark.parametrize("options", [{"pooling": "first-last"}, {"pooling": "pooler"},
                                     {"pooling": "mean", "layer": 0}, {"special_tokens": False}])
def test_what_sentence_transformers_has_no_word_for_is_refused(bert_folder, options):
    pytest.importorskip("sentence_transformers", reason="an optional package")
    encoder = load_encoder(bert_folder, device="cpu", **options)
    check(encoder.to_sentence_transformers, V, ["no counterpart"])


@pytest.mark.parametrize(("text", "error", "words"), [
    ("sea", V, ["hides nothing"]), (3, T, ["expected a str"]),
    ("sea " * 20 + "[MASK]", V, ["the model reads 12"])])
def test_texts_that_cannot_be_guessed_in_say_why(small_bert, pieces, text, error, words):
    guesser = WordGuesser(small_bert(layers=1, positions=12), pieces)
    check(lambda: guesser.guess(text), error, words)


@pytest.mark.parametrize("bad", [None, 5, b"", ["the", ["cat"]]])
def test_E13_what_is_no_list_of_texts_is_refused(pieces, bad):
    check(lambda: pieces.encode(bad), T, ["texts"])


def test_what_cannot_be_trained_on_is_said_before_any_work(stream, pieces, recipe, tmp_path):
    unread = (pytest.fail("a text was read") for _ in "x")
    for call, error, words in [
        (lambda: prepare_tokens(["sea sail"], pieces), V, ["to learn from", "to measure on"]),
        (lambda: prepare_tokens(unread, pieces, max_tokens=0), V, ["max_tokens=0"]),
        *[(lambda wrong=wrong: pretrain(stream, tmp_path, recipe=wrong), T,
           ["recipe=", "expected a Recipe, or the name of one: smoke, laptop, gpu"])
          for wrong in (5, {}, None)],
        (lambda: pretrain(stream, tmp_path, recipe=recipe, resume="no"), T, ["resume='no' is str"]),
        (lambda: pretrain(stream, tmp_path, recipe=replace(recipe, dim=1, heads=1)), V,
         ["dim=1 is out of range"])]:
        check(call, error, words)


def put(name, content):
    """Another content of a file; None: it is gone."""
    def change(folder):
        place = folder / name
        if content is None:
            place.unlink()
        else:
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return change


def config(name="config.json", **settings):
    return lambda folder: (folder / name).write_text(
        json.dumps(json.loads((folder / name).read_text()) | settings))


def weight(name, value):
    def change(folder):
        found = load_file(folder / "model.safetensors")
        found |= {f"bert.{name}": value}
        kept = {key: tensor for key, tensor in found.items() if tensor is not None}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    return change


def both(*changes):
    return lambda folder: [change(folder) for change in changes]


def cut(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-10])


def unknown_id(folder):
    """As many tokens as before, one with an id that the model has not got."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["sea"] = 5000
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def in_parts(named):
    """transformers reads whatever the index names; a ``.bin`` there would be unpickled (F06)."""
    return both(put("model.safetensors", None), put("evil.bin", b"\x80\x02"),
                put("model.safetensors.index.json", json.dumps({"weight_map": {WORDS: named}})))


WORDS = "embeddings.word_embeddings.weight"
NAN = torch.full((24, 40), float("nan"))
NOT_FINITE = ["NaN or infinity in 1 of", "encoder.layer.0.output.dense.weight"]
DENSE = "encoder.layer.{}.output.dense.bias"
MODULES = json.dumps([{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "p"}])
POOL = both(put("modules.json", MODULES), lambda folder: (folder / "p").mkdir())


@pytest.mark.parametrize(("change", "error", "words"), [
    (both(put("tokenizer.json", None), put("vocab.txt", None)), D,                       # E17
     ["no tokenizer: expected tokenizer.json or vocab.txt"]),
    *[(put("tokenizer.json", content), D, ["tokenizer.json holds no tokenizer"])
      for content in ("", "{", "[1]", '{"model": 5}')],
    (weight(DENSE.format(1), None), D, [f"1 missing ({DENSE.format(1)})"]),              # E18
    (weight("embeddings.more", torch.zeros(2)), D, ["1 unexpected (embeddings.more)"]),
    (weight(DENSE.format(0), torch.zeros(7)), D, ["1 of another shape"]),
    (both(config(layer_norm_eps=1e-6), weight(DENSE.format(1), None),        # by transformers
          weight(DENSE.format(0), torch.zeros(7))), D, ["1 missing", "1 of another shape"]),
    (cut, D, ["cut or changed"]),
    (put("model.safetensors", None), D, ["model.safetensors is missing"]),
    (both(put("model.safetensors", None), put("pytorch_model.bin", b"\x80\x02")), V,
     ["can run code and is not read"]),
    (weight("encoder.layer.0.output.dense.weight", NAN), D, NOT_FINITE),                 # V01
    (unknown_id, D, ["highest id 5,000; the model's vocabulary has"]),                   # E11
    *[(in_parts(named), D, [words]) for named, words in (
        ("evil.bin", "end in .safetensors"), ("../model/model.safetensors", "of the same folder"),
        ("gone.safetensors", "is missing"), (5, "does not say in which file"))],
    (lambda folder: save_arrays({"all_counts": np.arange(3)}, folder / "film.safetensors"), D,
     ["counts of"]),
    (weight(WORDS, None), D, ["1 missing"]),
    (both(config(vocab_size=2**31 - 1), weight(WORDS, None)), D, ["1 missing"]),
    (put("config.json", None), D, ["config.json is missing"]),                           # E19
    *[(put("config.json", content), D, [words]) for content, words in (
        ("{", "not valid JSON"), ("[" * 100_000, "not valid JSON"), ("5", "names no model_type"),
        ('{"model_type": 5}', "names no model_type"),
        (" " * 5_000_001, "no JSON file of at most"))],
    *[(config(**{name: value}), D, words) for name, value, words in (
        ("hidden_size", 16, ["hidden_size=16", "have 24"]),
        ("num_hidden_layers", 2, ["num_hidden_layers=2", "have 3"]),
        ("vocab_size", 10**9, ["vocab_size=1000000000", "have"]),
        ("max_position_embeddings", 512, ["max_position_embeddings=512", "have 64"]),
        ("intermediate_size", 41, ["intermediate_size=41", "have 40"]),
        ("num_attention_heads", 5, ["hidden_size=24 and num_attention_heads=5"]),
        ("hidden_size", "24", ["hidden_size=24; expected a whole number"]),
        ("num_attention_heads", 0, ["num_attention_heads=0; expected"]),
        ("hidden_dropout_prob", "much", ["dropout='much'"]))],
    (put("modules.json", '[{"path": "", "type": "Transformer"}, {"path": "1", "type": "Dense"}]'),
     V, ["Transformer, Dense"]),
    (put("modules.json", MODULES.replace('"p"', '"../../other"')), D, ["out of its folder"]),
    (put("modules.json", '{"a": 1}'), D, ["no list of modules"]),
    (both(POOL, put("p/config.json", '{"pooling_mode_lasttoken": true}')), V, ["lasttoken"]),
    (both(POOL, put("p/config.json", '{"pooling_mode": "mean+max"}')), V, ["mean+max"]),
    (both(POOL, put("p/config.json", '{"pooling of lessons_lib": "middle"}')), V,
     ["asks for 'middle'"]),
    (both(POOL, put("p/config.json", '{"pooling_mode": "mean", "embedding_dimension": 768}')), D,
     ["embedding_dimension=768", "hidden_size=24"]),
    (both(POOL, put("p/config.json", '{"pooling_mode": "mean"}'),
          put("sentence_bert_config.json", '{"max_seq_length": -1}')), D, ["max_seq_length=-1"]),
    *[(put("model.safetensors", content), error, ["model.safetensors", words])           # F03, F06
      for content, error, words in (
        (b"", D, "is empty"), (b"<!DOCTYPE html><html>", D, "HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", D, "git lfs pull"),
        (b"\x80\x02}q\x00.", V, "can run code"), (b"PK\x03\x04data.pkl", V, "can run code"))],
])
def test_a_folder_that_is_not_whole_is_refused(bert_folder, tmp_path, change, error, words):
    folder = shutil.copytree(bert_folder, tmp_path / "model",
                             ignore=shutil.ignore_patterns("card.json"))
    change(folder)
    check(lambda: load_encoder(folder), error, words)


@pytest.mark.parametrize(("change", "error", "words"), [
    (config(vocab_size=2**31 - 1), D, ["vocab_size=2147483647; the weights"]),
    (config(num_hidden_layers=2), D, ["num_hidden_layers=2; the weights"]),              # E19
    (config(hidden_size=16), D, ["hidden_size=16; the weights"]),
    (config(hidden_act="relu"), D, ["hidden_act"]), (cut, D, ["cut or changed"]),        # E18
    (config(num_attention_heads=5), D, ["num_attention_heads=5"]),
    (weight("encoder.layer.0.output.dense.weight", NAN), D, NOT_FINITE),
    (put("vocab.txt", None), D, ["vocab.txt is missing"]),                               # E17
    (put("vocab.txt", "the\nof\n"), D, ["begins with"]),
    (put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\na\n"), D, ["'a' twice"]),
    (config(hidden_dropout_prob="much"), D, ["dropout='much'"]),
    (put("config.json", "[1]"), D, ["no configuration of a model"]),
    (put("model.safetensors", b""), D, ["is empty"]),
    (put("model.safetensors", b"<!DOCTYPE html><html>"), D, ["HTML page"]),
    (put("model.safetensors", b"\x80\x02}q\x00."), V, ["can run code"])])
def test_a_guesser_refuses_what_an_encoder_refuses(bert_folder, tmp_path, change, error, words):
    folder = shutil.copytree(bert_folder, tmp_path / "model",
                             ignore=shutil.ignore_patterns("card.json"))
    change(folder)
    check(lambda: load_guesser(folder), error, words)


def test_files_that_are_no_model_of_ours_are_refused(bert_folder, stream, tmp_path):
    check(lambda: load_encoder(bert_folder / "model.safetensors"), D, ["is a file"])
    folder = shutil.copytree(bert_folder, tmp_path / "model")
    config(num_attention_heads=3)(folder)     # fits all sizes, and would be another model (F02)
    check(lambda: load_encoder(folder), D, ["config.json was", "card.json says"])
    stream.save(tmp_path / "tokens")
    config("model.json", settings={"held_out": 1, "n": 3})(tmp_path / "tokens")
    check(lambda: TokenStream.load(tmp_path / "tokens"), D, ["changed or damaged"])


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize("name", ["vocabulary", "dim", "layers", "feed_forward", "positions"])
def test_a_model_that_cannot_fit_is_refused_before_its_weights_are_taken(little_memory, name):
    size = BertSize(**{"vocabulary": 90, "dim": 16, "layers": 1, "heads": 1} | {name: 10**9})
    with pytest.raises(MemoryError, match=rf"B, 1\.0 MB are free\. Lower {name}=1000000000"):
        LessonBert(size)


def test_a_size_tells_the_weights_of_its_model():
    size = BertSize(33, dim=12, layers=3, heads=2, feed_forward=20, positions=9)
    assert size.weights == sum(weight.numel() for weight in LessonBert(size).parameters())


def test_vectors_that_cannot_fit_are_refused_before_a_text_is_read(monkeypatch, encoder):
    monkeypatch.setenv("LESSONS_FREE_MEMORY", str(4 * encoder.dim))
    assert len(encoder.encode(["a"])) == 1
    with pytest.raises(MemoryError, match=rf"1 x 2 vectors of {encoder.dim} .* encode_to"):
        encoder.encode(["a", "b"])
