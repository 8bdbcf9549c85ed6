"""`evaluate`: protocols, zero vectors, blocks, sparse storage, intervals, and errors with a remedy.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lessons_lib.core import DataWarning
from lessons_lib.evaluation import alignment, evaluate, pearson, spearman, sts, uniformity
from lessons_lib.evaluation.pair_sets import pair_sets

from .conftest import TableEncoder, WordCounter, make_result


def scores(result):
    """All fields but the time."""
    return {f.name: getattr(result, f.name) for f in dataclasses.fields(result)
            if f.name != "seconds"}


def by_hand(encoder, pairs):
    x, y = (encoder.encode(side).astype(np.float64) for side in (pairs.sentence1, pairs.sentence2))
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.divide((x * y).sum(axis=1), lengths, out=np.zeros(len(x)), where=lengths > 0)


def test_the_score_is_the_spearman_of_cosines_and_grades(angle_pairs):
    encoder, pairs = angle_pairs
    result = evaluate(encoder, pairs)["toy"]
    cosines = by_hand(encoder, pairs)
    assert result.spearman == pytest.approx(spearman(cosines, pairs.score), abs=1e-12)
    assert result.pearson == pytest.approx(pearson(cosines, pairs.score), abs=1e-9)
    assert result.interval[0] < result.spearman < result.interval[1]
    assert (result.name, result.split, result.n_pairs, result.n_subsets,
            result.dim) == ("toy", "test", 40, 1, 2)
    assert result.encoder == "table" and result.protocol == "all" and result.seconds > 0


def test_alignment_uses_close_pairs_and_uniformity_all_sentences(angle_pairs):
    encoder, pairs = angle_pairs
    result = evaluate(encoder, pairs, bootstrap=0)["toy"]
    close = np.flatnonzero(np.asarray(pairs.score) > 4)
    first, second = (encoder.encode(side) for side in (pairs.sentence1, pairs.sentence2))
    assert result.alignment == pytest.approx(alignment(first[close], second[close]), abs=1e-12)
    assert result.uniformity == pytest.approx(uniformity(np.vstack([first, second])), abs=1e-12)
    assert result.interval is None


def test_alignment_is_none_without_a_close_pair(pairs_of):
    encoder = TableEncoder({"a": [1, 0], "b": [1, 1], "c": [0, 1]})
    assert evaluate(encoder, pairs_of(["a", "a"], ["b", "c"], [4.0, 1.0]),
                    bootstrap=0)["toy"].alignment is None


def with_subsets(pairs_of, angle_pairs, subset):
    encoder, pairs = angle_pairs
    return encoder, pairs_of(pairs.sentence1, pairs.sentence2, pairs.score, subset=subset)


def test_all_protocols_agree_for_one_subset(pairs_of, angle_pairs):  # identity 74
    encoder, pairs = with_subsets(pairs_of, angle_pairs, ["one"] * 40)
    found = [scores(evaluate(encoder, pairs, protocol=p)["toy"]) for p in sts.PROTOCOLS]
    assert found[0] | {"protocol": "mean"} == found[1] and found[1] | {"protocol": "wmean"
                                                                       } == found[2]


def test_mean_and_wmean_average_the_subsets_by_files_and_by_pairs(pairs_of, angle_pairs):
    encoder, pairs = with_subsets(pairs_of, angle_pairs, ["small"] * 10 + ["large"] * 30)
    mean, wmean, joined = (evaluate(encoder, pairs, protocol=p)["toy"]
                            for p in ("mean", "wmean", "all"))
    cosines, gold = by_hand(encoder, pairs), np.asarray(pairs.score)
    small, large = spearman(cosines[:10], gold[:10]), spearman(cosines[10:], gold[10:])
    assert mean.spearman == pytest.approx((small + large) / 2, abs=1e-12)
    assert wmean.spearman == pytest.approx((10 * small + 30 * large) / 40, abs=1e-12)
    assert joined.spearman == pytest.approx(spearman(cosines, gold), abs=1e-12)
    assert joined.spearman != pytest.approx(wmean.spearman, abs=1e-3)
    assert mean.by_subset == joined.by_subset == {"small": pytest.approx(small),
                                                  "large": pytest.approx(large)}
    assert mean.interval != wmean.interval and mean.n_subsets == 2


def test_a_subset_without_a_correlation_is_left_out(pairs_of, angle_pairs):
    encoder, pairs = with_subsets(pairs_of, angle_pairs, ["lone"] + ["rest"] * 39)
    assert list(evaluate(encoder, pairs)["toy"].by_subset) == ["rest"]


def test_each_distinct_sentence_is_encoded_once(angle_pairs):
    encoder, pairs = angle_pairs
    evaluate(encoder, pairs)
    assert len(encoder.asked) == len(set(encoder.asked)) == 41


@pytest.fixture
def word_pairs(pairs_of):
    rng = np.random.default_rng(11)
    words = np.array([f"w{k}" for k in range(400)])
    first = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    kept = rng.integers(0, 9, size=60)
    second = [" ".join([*text.split()[:k], *rng.choice(words, 8 - k)])
              for text, k in zip(first, kept, strict=True)]
    return pairs_of(first, second, np.clip(kept / 8 * 5 + rng.normal(scale=0.5, size=60), 0, 5))


def test_wide_sparse_vectors_are_encoded_in_blocks_and_give_the_same_result(
        word_pairs, monkeypatch):
    encoder = WordCounter(word_pairs.sentence1 + word_pairs.sentence2)
    whole = evaluate(encoder, word_pairs)["toy"]
    monkeypatch.setattr(sts, "BLOCK", encoder.dim * 16)
    encoder.rows_per_call.clear()
    blocked = evaluate(encoder, word_pairs)["toy"]
    assert max(encoder.rows_per_call) == 16 and len(encoder.rows_per_call) > 5
    assert scores(blocked) == scores(whole)
    monkeypatch.setattr(sts, "SPARSE_BELOW", 0.0)
    dense = evaluate(encoder, word_pairs)["toy"]
    assert dense.spearman == blocked.spearman
    # float32 sums in another order
    assert dense.uniformity == pytest.approx(blocked.uniformity, abs=1e-5)
    assert dense.alignment == pytest.approx(blocked.alignment, abs=1e-6)


def test_only_what_is_mostly_zeros_is_kept_sparse(word_pairs, monkeypatch):
    tenth = np.eye(10, dtype=np.float32)
    assert sts._compact(tenth, like=[]) is tenth
    assert sts._compact(tenth, like=[tenth]) is tenth
    tenth[0] = 0
    assert sts._compact(tenth, like=[]).nnz == 9
    encoder, (pairs,) = WordCounter(word_pairs.sentence1), pair_sets(word_pairs, split=None)
    for block, share, kind in ((1 << 24, 0, np.ndarray), (encoder.dim * 16, 0, np.ndarray),
                               (encoder.dim * 16, 1, sparse.csr_array)):
        monkeypatch.setattr(sts, "BLOCK", block)
        monkeypatch.setattr(sts, "SPARSE_BELOW", share)
        assert isinstance(sts._encoded(encoder, pairs, 256, False), kind)


def test_a_bar_counts_sets_where_there_are_several_and_one_was_asked_for(angle_pairs, monkeypatch):
    encoder, pairs = angle_pairs
    shown = []
    monkeypatch.setattr(sts, "track", lambda sets, *, label, show: shown.append(show) or sets)
    for names, progress in (("a", True), ("ab", True), ("ab", False)):
        evaluate(encoder, dict.fromkeys(names, pairs), progress=progress, bootstrap=0)
    assert shown == [False, True, False]


def test_a_result_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_result().spearman = 1.0


def test_sparse_blocks_hold_what_the_encoder_gave(word_pairs):
    block = WordCounter(word_pairs.sentence1).encode(
        [*word_pairs.sentence1[:5], "", *word_pairs.sentence1[5:9], ""])
    stored = sts._compact(block, like=[])
    assert stored.nnz == np.count_nonzero(block)
    assert (stored.toarray() == block).all()


def test_V02_zero_vectors_count_as_cosine_0_and_keep_their_row(pairs_of):
    encoder = TableEncoder({"nothing": [0, 0], "a": [1, 0], "b": [1, 0.1], "c": [-1, 0.1]})
    result = (evaluate(encoder, pairs_of(["a", "a", "a"], ["b", "nothing", "c"],
                                         [5.0, 2.5, 0.0]))["toy"])
    assert result.spearman == 1.0 and result.n_pairs == 3


@pytest.mark.parametrize("scale", [1e200, 1e-320])
def test_V04_huge_and_tiny_vectors_score_like_ordinary_ones(angle_pairs, scale):
    encoder, pairs = angle_pairs
    extreme = TableEncoder({text: np.array(row) * scale for text, row in encoder.table.items()},
                           "float64")
    assert evaluate(extreme, pairs)["toy"].spearman == pytest.approx(
        evaluate(encoder, pairs)["toy"].spearman, abs=5e-3)


def test_cosines_that_tie_on_paper_tie_in_the_score(pairs_of):
    encoder = TableEncoder({"x": [1, 0, 0], "y": [1, 1, 0], "x3": [3, 0, 0], "y7": [7, 7, 0],
                            "z": [0.3, 0.1, 0.9]}, "float64")
    tied = (evaluate(encoder,
                     pairs_of(["x", "x3", "x", "x"], ["y", "y7", "z", "x3"], [1.0, 2.0, 0.0, 3.0]),
                     bootstrap=0)["toy"])
    assert tied.spearman == spearman([0.7, 0.7, 0.1, 1.0], [1, 2, 0, 3])


def test_the_spearman_does_not_depend_on_the_order_of_pairs(pairs_of, angle_pairs):
    encoder, pairs = angle_pairs
    order = np.random.default_rng(0).permutation(40)
    other = pairs_of([pairs.sentence1[k] for k in order], [pairs.sentence2[k] for k in order],
                     np.asarray(pairs.score)[order])
    assert evaluate(encoder, other)["toy"].spearman == pytest.approx(
        evaluate(encoder, pairs)["toy"].spearman, abs=1e-12)


def test_same_seed_same_result_and_the_seed_moves_only_the_interval(angle_pairs):
    encoder, pairs = angle_pairs
    first, again, other = (scores(evaluate(encoder, pairs, seed=s)["toy"]) for s in (3, 3, 4))
    assert first == again
    assert first.pop("interval") != other.pop("interval") and first == other


def test_results_print_correlations_times_100_and_escape_names(angle_pairs):
    encoder, pairs = angle_pairs
    encoder.name = "<b>mine</b>"
    results = evaluate(encoder, {"a & b": pairs})
    result = results["a & b"]
    assert f"Spearman {100 * result.spearman:.1f} [" in repr(result) and "x 100" in repr(result)
    assert f"{100 * result.spearman:.1f}" in repr(results)
    for text in (results._repr_html_(), result._repr_html_()):
        assert "<b>mine" not in text and "<script" not in text
        assert "&lt;b&gt;mine" in text and "a &amp; b" in text


def test_a_table_of_results_shows_every_figure_and_a_dash_for_none():
    results = sts.Results(one=make_result(), two=make_result("two", interval=None, alignment=None))
    head, *lines = repr(results).splitlines()[1:]
    assert head.split("  ")[0] == "set" and repr(results).startswith("mean (correlations x 100)")
    assert [line.split() for line in lines] == [
        ["one", "test", "all", "50.0", "45.0", "…", "55.0", "49.0", "0.20", "-2.50", "1,379",
         "0.25"],
        ["two", "test", "all", "50.0", "–", "49.0", "–", "-2.50", "1,379", "0.25"]]
    assert lines[0].index("one") == 0 and lines[0].index("test") == head.index("split")
    assert "Spearman 50.0 [45.0, 55.0], Pearson 49.0 (x 100, all)" in repr(results["one"])
    assert repr(sts.Results()) == "Results({})"


def test_T19_an_encoders_warning_comes_once_per_set_with_its_name(angle_pairs, monkeypatch):
    import warnings

    encoder, pairs = angle_pairs
    plain = encoder.encode

    def warning_encode(texts, **options):
        warnings.warn(f"{len(texts)} texts hold no known word", DataWarning)
        return plain(texts, **options)

    encoder.encode = warning_encode
    monkeypatch.setattr(sts, "BLOCK", 2 * 8)
    with pytest.warns(DataWarning) as caught:
        evaluate(encoder, pairs)
    assert [str(w.message) for w in caught] == ["toy: 8 texts hold no known word (and 5 more such "
                                                "warnings)"]


@pytest.mark.data
def test_a_word_counter_scores_stsb_in_its_known_range(lessons_data):
    from lessons_lib import datasets

    pairs = datasets.load("stsb", split="test")
    result = (evaluate(WordCounter(pairs.sentence1 + pairs.sentence2), ["stsb"],
                       split="test")["stsb"])
    assert result.n_pairs == 1379
    assert_allclose(result.spearman, 0.494, atol=0.01)
    assert result.interval[0] < 0.494 < result.interval[1]


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float64"])
def test_torch_tensors_are_taken_with_gradient_and_in_half_precision(angle_pairs, kind):
    torch = pytest.importorskip("torch")
    encoder, pairs = angle_pairs
    plain = evaluate(encoder, pairs, bootstrap=0)["toy"].spearman

    class Tensors(TableEncoder):
        def encode(self, texts, **options):
            return torch.tensor(super().encode(texts, **options), dtype=getattr(torch, kind),
                                requires_grad=True)

    assert evaluate(Tensors(encoder.table), pairs, bootstrap=0)["toy"].spearman == pytest.approx(
        plain, abs=0.02)
