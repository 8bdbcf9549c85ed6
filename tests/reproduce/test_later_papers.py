"""What later papers object: shifts, dropped tokens, clusters, scalings, pairs of texts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.contextual import (
    BertSize, LessonBertForPretraining, WordPiece, load_encoder, save_bert)
from lessons_lib.reproduce import entries, later_papers, recorded, single_vectors
from lessons_lib.reproduce.entry import CONTROLS, OTHER_CONTROL
from lessons_lib.reproduce.later_papers import (
    LAST, STATIC, penalised, pieces_dropped, scaled_models, shifted_block, stretched)
from lessons_lib.reproduce.single_vectors import (
    STEPS, circle, lead, learned_share, liking)

KNOWN = entries()
NEW = [entry.id for module in (later_papers, single_vectors) for entry in module.ENTRIES]
rng = np.random.default_rng(0)


def test_a_common_vector_makes_the_outputs_of_an_untrained_block_alike_and_own_ones_do_not():
    size = {"dim": 32, "heads": 4, "feed_forward": 64, "rows": 6, "length": 24, "seed": 3}
    common, own = ({x: shifted_block(x, own=k, **size) for x in (0.0, 0.2, 5.0)} for k in (0, 1))
    for part in later_papers.PARTS:
        assert common[0.0][part] == own[0.0][part]
        assert abs(common[0.0][part]) < 0.15 and common[5.0][part] > 0.9 > 0.5 > own[5.0][part]
    assert common[0.2]["attention alone"] > common[0.2]["inputs"] + 0.2
    x = rng.normal(size=(3, 4, 5))
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    pairs = [unit[a, i] @ unit[b, j] for a in range(3) for b in range(3) if a != b
             for i in range(4) for j in range(4)]
    assert later_papers._alike(x) == pytest.approx(np.mean(pairs))


def test_the_most_frequent_tokens_are_left_out_of_the_means_and_a_text_of_them_keeps_all(tmp_path):
    tokens = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "sea", "ship")
    model = LessonBertForPretraining(BertSize(8, dim=8, layers=2, heads=2, positions=9), seed=0)
    counts = np.array([0, 0, 99, 99, 0, 50, 9, 3])
    save_bert(tmp_path, model, WordPiece(list(tokens)), card={"name": "tiny"},
              film={"all_counts": counts})
    encoder = load_encoder(tmp_path, device="cpu")
    texts = ["the sea the ship", "the the"]
    found = pieces_dropped(encoder, texts, [0, 1, 2])
    the, sea, ship = encoder.word_table[5:]
    expected = {0: (2 * the + sea + ship) / 4, 1: (sea + ship) / 2, 2: ship}
    states = next(iter(encoder.hidden_states(texts[:1], layers=2))).vectors[0]
    for k, mean in expected.items():
        assert found[STATIC][k] == pytest.approx(np.stack([mean, the]), abs=1e-6)
    assert found[LAST][1][0] == pytest.approx(states[[2, 4]].mean(axis=0), abs=1e-5)
    assert list(pieces_dropped(encoder, texts, [0], last=False)) == [STATIC]


def test_power_0_whitens_power_1_whitens_within_labels_and_more_stretches_between_them():
    labels = rng.integers(0, 3, 400)
    x = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 4 * rng.normal(size=(3, 5))[labels]
    means = np.stack([x[labels == k].mean(axis=0) for k in range(3)])[labels]
    white, within, more = stretched(x, labels, [0, 1, 2])
    assert np.cov((x @ white).T, ddof=0) == pytest.approx(np.eye(5), abs=1e-9)
    assert np.cov(((x - means) @ within).T, ddof=0) == pytest.approx(np.eye(5), abs=1e-9)
    spread = np.cov((x @ more).T, ddof=0)
    assert spread == pytest.approx(np.diag(np.diag(spread)), abs=1e-6)
    ratio = np.diag(np.cov((x @ within).T, ddof=0))
    assert np.diag(spread) == pytest.approx(ratio**2)
    other = stretched(x, labels, [0, 2], along=rng.permutation(labels))
    assert np.cov((x @ other[0]).T, ddof=0) == pytest.approx(np.eye(5), abs=1e-9)
    assert np.sort(np.diag(np.cov((x @ other[1]).T, ddof=0))) == pytest.approx(np.sort(ratio**2))


def test_linear_models_are_the_best_and_only_a_penalty_on_the_product_leaves_their_scale_free():
    x = rng.normal(size=(30, 6))
    models = scaled_models(x, 5.0, 0.5)

    def loss(a, b, ending):
        left = x @ a @ b.T
        size = (5.0 * ((a @ b.T) ** 2).sum() if not ending
                else 0.5 * (((x @ a) ** 2).sum() + (b**2).sum()))
        return ((x - left) ** 2).sum() + size

    for ending, free in (("", True), (OTHER_CONTROL, False)):
        (first, b, least), *others = models[ending]
        a = np.linalg.lstsq(x, first @ np.linalg.pinv(b.T), rcond=None)[0]
        assert loss(a, b, ending) == pytest.approx(least)
        for _ in range(20):
            near = [part + 1e-3 * rng.normal(size=part.shape) for part in (a, b)]
            assert loss(*near, ending) > least
        for predicted, _, scaled in others:
            assert predicted == pytest.approx(first, abs=1e-9)
            assert (scaled == pytest.approx(least)) is free
        alone = others[0][1] / np.linalg.norm(others[0][1], axis=1, keepdims=True)
        assert alone @ alone.T == pytest.approx(np.eye(6), abs=1e-9)
    with pytest.raises(ValueError, match="factor_penalty=50"):
        scaled_models(x, 5.0, 50.0)


def test_a_small_penalty_leaves_nothing_of_whitening_and_gamma_0_only_rotates():
    x = rng.normal(size=(700, 4)) * [8, 3, 1, 0.2] + 5
    labels = (x - 5) @ [0.02, 0.1, 0.4, 3] + rng.logistic(size=700) > 0
    parts = x[:400], labels[:400], x[400:], labels[400:]
    even, none = ({penalty: penalised(*parts, gamma, [penalty])[penalty]
                   for penalty in (1e-6, 300.0)} for gamma in (1, 0))
    assert even[1e-6] == pytest.approx(none[1e-6], abs=0.5) and even[300.0] != none[300.0]
    turned = x @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert penalised(turned[:400], parts[1], turned[400:], parts[3], 0, [10.0]) == penalised(
        *parts, 0, [10.0])


@pytest.mark.parametrize("n", [4, 5, 12, 60])
def test_four_numbers_on_a_circle_return_every_pair(n):
    queries, texts = circle(n)
    pairs = single_vectors._pairs(n)
    assert queries.shape == (n * (n - 1) // 2, 4) and texts.shape == (n, 4)
    for x in (queries, texts):
        assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(len(x)))
    best = np.sort(np.argsort(-(queries @ texts.T), axis=1)[:, :2], axis=1)
    assert np.array_equal(best, pairs)
    ahead = lead(queries, texts, pairs)
    scores = np.sort(queries @ texts.T, axis=1)
    assert ahead == pytest.approx(scores[:, -2] - scores[:, -3], abs=1e-12) and (ahead > 0).all()


def test_free_vectors_learn_all_pairs_of_few_texts_and_neighbours_of_more():
    run = STEPS | {"steps": 600, "seed": 0}
    assert learned_share(5, 4, single_vectors._pairs(5), **run) == 1
    assert learned_share(12, 4, single_vectors._pairs(12), **run) < 1
    ring = np.stack([np.arange(12), (np.arange(12) + 1) % 12], axis=1)
    assert learned_share(12, 4, ring, **run) == 1


def test_texts_by_a_rule_share_one_thing_in_each_pair_or_all_in_each_couple(monkeypatch):
    words = [f"{a}{b}{c}ab" for a in "abcdefghij" for b in "klmnopqr" for c in "stuvwxyz"]
    many = SimpleNamespace(words=["w"] * 2000 + words)
    monkeypatch.setattr(single_vectors, "load", {"course-frequencies": many}.__getitem__)
    plain, couples = liking(8, 1), liking(8, 1, couples=True)
    for (texts, questions, answers), different in ((plain, 28), (couples, 4)):
        things = [question[len("Who likes "):-1] for question in questions]
        listed = [set(text[:-1].partition(" likes ")[2].split(", ")) for text in texts]
        assert len(set(things)) == 28 and [len(some) for some in listed] == [7] * 8
        for thing, pair in zip(things, answers, strict=True):
            assert {k for k, some in enumerate(listed) if thing in some} == set(pair.tolist())
        assert len({frozenset(pair) for pair in answers.tolist()}) == different
    assert plain[1] == couples[1]


@pytest.mark.parametrize("name", NEW)
def test_a_picture_is_the_same_whatever_the_order_of_rows_and_controls_are_hollow(name):
    entry, measured = KNOWN[name], recorded(name).measured
    turned = dict(reversed(measured.items()))
    one, other = (entry.draw(entry, rows) for rows in (measured, turned))
    texts = [[text.get_text() for text in fig.legends[0].get_texts()] if fig.legends else []
             for fig in (one, other)]
    assert texts[0] == texts[1] and one.get_suptitle() == other.get_suptitle()
    for fig in (one, other):
        fig.draw_without_rendering()
    for line, text in zip(one.legends[0].get_lines() if one.legends else (), texts[0],
                          strict=True):
        assert (line.get_markerfacecolor() == "white") is text.endswith(CONTROLS)


def test_claims_are_refuted_where_nothing_happens():
    """Flat rows bear out no claim but that words find all, that vectors do not, and no change."""
    for name in NEW:
        measured = recorded(name).measured
        flat = {row: dict.fromkeys(points, 100.0 if row.startswith("BM25") else 0.3)
                for row, points in measured.items()}
        held = [claim.text for claim in KNOWN[name].claims if claim.holds(flat)]
        allowed = {"weller2025_liking": 2, "weller2025_critical": 2, "forooghi2024_penalty": 1}
        assert len(held) <= allowed.get(name, 0), held


def found_in(name):
    return recorded(name).measured


def test_attention_alone_makes_alike_and_the_whole_block_does_not():
    shift = found_in("godey2024_shift")
    assert shift["attention alone"][0.1] > 0.3
    assert abs(shift["the whole block"][0.1] - shift["inputs"][0.1]) < 0.05


def test_without_frequent_tokens_every_word_table_scores_higher():
    left = found_in("jiang2022_tokens")
    for name in {"word table", "word table, untrained", "word table of MiniLM"} & set(left):
        assert left[name][36] > left[name][0] + 2, name
    cone = left["word table, mean cosine"]
    assert cone[36] > cone[0] - 0.05
    opened = left.get("word table of MiniLM, mean cosine", {0: 1, 36: 0})
    assert opened[36] < opened[0] - 0.1


@pytest.mark.parametrize("name", ["skip-gram", "lesson-bag"])
def test_an_isotropic_space_has_worse_clusters_and_is_better_than_vectors_as_they_are(name):
    found = found_in("mickus2024_clusters")
    even, heaps = found[f"IsoScore, {name}"], found[f"silhouette, {name}"]
    assert even[3] < even[0] - 0.3 and heaps[3] > heaps[0]
    right = found[f"accuracy, {name}"]
    assert max(right.values()) > right[0] > found[f"accuracy, {name}, as they are"][0]


def test_free_scalings_of_one_model_turn_its_cosines_round():
    free = found_in("steck2024_figure1")
    assert max(map(abs, free["loss, change"].values())) < 1e-6
    assert free["largest"][1] < 0.05 and free["same cluster"][2] > 0.3
    assert free["nearer"][2] > 0.9 and free["nearer"][3] < 0.1
