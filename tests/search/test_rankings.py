"""Joining rankings, looking closer at the best, and cutting texts."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.contextual import load_encoder
from lessons_lib.core import PROJECT, DataMissing
from lessons_lib.kernels.maxsim import cpu
from lessons_lib.search import (LateInteraction, maxsim, reciprocal_rank_fusion, rerank,
                                split_passages)

rankings = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), min_size=1, max_size=4)


@given(rankings, st.randoms(use_true_random=False))
def test_a_fusion_counts_places_in_whatever_order_rankings_come(lists, random):
    joined = dict(reciprocal_rank_fusion(lists, k=100))
    assert joined.keys() == set().union(*lists)
    for item, score in joined.items():
        assert score == pytest.approx(sum(1 / (61 + r.index(item)) for r in lists if item in r))
    random.shuffle(lists)
    assert dict(reciprocal_rank_fusion(lists, k=100)) == pytest.approx(joined)


def test_a_fusion_of_one_ranking_is_that_ranking_and_a_weight_of_nothing_counts_for_nothing():
    assert [i for i, _ in reciprocal_rank_fusion([[3, 1, 2]], k=2)] == [3, 1]
    joined = reciprocal_rank_fusion([[1, 2], [2, 1]], weights=[1, 0])
    assert [i for i, _ in joined] == [1, 2]
    assert reciprocal_rank_fusion([np.array([4]), []])[0][0] == 4


def test_a_judge_is_asked_about_every_pair_and_its_order_holds():
    asked = []

    def score(pairs):
        asked.extend(pairs)
        return np.array([len(text) for _, text in pairs])

    assert rerank("q", ["aa", "b", "cc"], score) == [(0, 2.0), (2, 2.0), (1, 1.0)]
    assert asked == [("q", "aa"), ("q", "b"), ("q", "cc")]
    assert rerank("q", [], score) == [] and len(rerank("q", ["a", "b"], score, k=1)) == 1


# ------------------------------------------------------------------------------ tokens


@given(lengths=st.lists(st.integers(0, 5), max_size=6), m=st.integers(0, 4), dim=st.integers(1, 4),
       seed=st.integers(0, 99), block=st.integers(1, 20))
def test_blocks_of_products_give_the_formula(lengths, m, dim, seed, block):
    rng = np.random.default_rng(seed)
    query, tokens = rng.normal(size=(m, dim)), rng.normal(size=(sum(lengths), dim))
    offsets = np.cumsum([0, *lengths])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", block)
        fast = maxsim(query, tokens, offsets)
    slow = maxsim(query, tokens, offsets, backend="reference")
    np.testing.assert_allclose(fast, slow, atol=1e-12)


@pytest.fixture(scope="module")
def bert():
    try:
        return load_encoder("lesson-bert")
    except DataMissing as error:
        pytest.skip(str(error))


def test_late_interaction_finds_the_text_itself_and_an_order_of_candidates(bert):
    texts = ["the cat sat on the mat", "stocks fell on monday", "a bird is in the tree", ""]
    late = LateInteraction(bert).fit(texts)
    tokens = np.diff(late.offsets_)
    for i, text in enumerate(texts[:3]):
        (best, score), *_ = late.search(text)
        assert best == i and score == pytest.approx(tokens[i], rel=1e-4)     # cosine 1 each
    everything = dict(late.search("a cat"))
    assert everything[3] == 0 and len(late.search("a cat", k=2)) == 2
    some = late.search("a cat", among=[2, 0])
    assert dict(some) == pytest.approx({i: everything[i] for i in (0, 2)}, rel=1e-5)


@pytest.mark.parametrize("special_tokens", [False, True])
def test_the_scores_are_those_of_sentence_transformers_on_the_same_folder(bert, special_tokens):
    package = pytest.importorskip("sentence_transformers", reason="an optional package")
    if not hasattr(package, "MultiVectorEncoder"):
        pytest.skip("this sentence-transformers has no MultiVectorEncoder yet")
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    folder, skipped = str(PROJECT / "data/models/lesson-bert"), ["[CLS]", "[SEP]"]
    model = package.MultiVectorEncoder(device="cpu", modules=[
        Transformer(folder, model_kwargs={"dtype": torch.float32}),
        MultiVectorMask([] if special_tokens else skipped, skiplist_tasks=["query", "document"]),
        Normalize(module_input_name="token_embeddings")])
    texts = ["the cat sat on the mat", "stocks fell on monday, again", "a bird"]
    theirs = model.similarity(model.encode_query(["where is the cat?", "a bird"]),
                              model.encode_document(texts)).numpy()
    late = LateInteraction(bert, special_tokens=special_tokens).fit(texts)
    for question, expected in zip(["where is the cat?", "a bird"], theirs, strict=True):
        found = dict(late.search(question))
        np.testing.assert_allclose([found[i] for i in range(3)], expected, atol=1e-5)


# ------------------------------------------------------------------------------ passages

sentence = st.integers(1, 12).map(lambda n: " ".join(["word"] * n).capitalize() + ".")
texts = st.lists(sentence, max_size=12).map(" ".join)


@given(texts, st.integers(1, 20), st.integers(0, 19))
def test_passages_are_pieces_that_fit_and_leave_no_word_out(text, size, overlap):
    passages = split_passages(text, size=size, overlap=min(overlap, size - 1))
    covered = set()
    for passage in passages:
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        assert len(re.findall(r"\w+", passage.text)) <= size
        covered |= set(range(passage.start, passage.end))
    assert all(set(range(*m.span())) <= covered for m in re.finditer(r"\w+", text))
    starts, ends = ([getattr(p, side) for p in passages] for side in ("start", "end"))
    assert starts == sorted(set(starts)) and ends == sorted(set(ends))


def test_passages_end_with_sentences_and_repeat_whole_ones():
    text = "One two three. Four five. Six seven eight nine. Ten."
    assert [p.text for p in split_passages(text, size=6, overlap=2)] == [
        "One two three. Four five.", "Four five. Six seven eight nine.",
        "Ten."]
    assert [p.text for p in split_passages(text, size=100)] == [text]
    assert split_passages(" \n … ") == []


def test_a_long_sentence_is_cut_at_words_and_chinese_at_characters():
    assert [p.text for p in split_passages("a b c d e", size=2, overlap=0)] == ["a b", "c d", "e"]
    assert [p.text for p in split_passages("我们今天去", size=2, overlap=0)] == [
        "我们", "今天", "去"]
