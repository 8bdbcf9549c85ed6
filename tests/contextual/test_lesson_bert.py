"""LessonBert is transformers' BERT: same names and numbers; and what its heads guess is hidden."""

from __future__ import annotations

import pytest
import torch

from lessons_lib.contextual import BertSize, LessonBert, WordGuesser, load_guesser
from lessons_lib.contextual.saved_bert import load_bert, save_bert
from lessons_lib.core import DataMissing

SIZE = BertSize(90, dim=24, layers=3, heads=2, feed_forward=40, positions=20)


@pytest.fixture
def rows():
    chance = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 90, (3, 17), generator=chance)
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, 9:], segments[:, 6:] = 0, 1
    return ids, mask, segments


@pytest.fixture
def guesser(small_bert, pieces) -> WordGuesser:
    return WordGuesser(small_bert(dim=16, layers=2, feed_forward=32, positions=12), pieces)


@pytest.mark.parametrize("back", [False, True])
def test_every_layer_equals_that_of_transformers(rows, back):
    from transformers import BertConfig, BertModel

    ids, mask, segments = rows
    assert BertSize.from_config(SIZE.to_config()) == SIZE
    ours, theirs = LessonBert(SIZE, seed=3).eval(), BertModel(BertConfig(**SIZE.to_config())).eval()
    first, second = (theirs, ours) if back else (ours, theirs)
    second.load_state_dict(first.state_dict())      # strict: every name and shape is the same
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask, token_type_ids=segments,
                          output_hidden_states=True)
        states = ours.hidden_states(ids, mask=mask, segments=segments)
        assert len(states) == SIZE.layers + 1
        for mine, other in zip(states, expected.hidden_states, strict=True):
            assert (mine - other).abs().max() <= 1e-5
        assert (ours.pool(states[-1]) - expected.pooler_output).abs().max() <= 1e-5


def test_heads_equal_those_of_transformers(rows, small_bert, pieces, tmp_path):
    from transformers import BertForPreTraining

    ids = rows[0] % len(pieces)
    save_bert(tmp_path, small_bert(seed=5, positions=20), pieces, card={})
    ours, tokenizer = load_bert(tmp_path)
    theirs = BertForPreTraining.from_pretrained(tmp_path, dtype=torch.float32).eval()
    positions = torch.tensor([[2, 5], [1, 3], [0, 16]])
    with torch.no_grad():
        scores, follows = ours(ids, positions)
        expected = theirs(ids)
    picked = expected.prediction_logits[torch.arange(3)[:, None], positions].flatten(0, 1)
    assert (scores - picked).abs().max() <= 1e-5
    assert (follows - expected.seq_relationship_logits).abs().max() <= 1e-5
    assert tokenizer.pieces == pieces.pieces


def test_a_masked_place_changes_nothing(rows):
    ids, mask, _ = rows
    model = LessonBert(SIZE).eval()
    other = torch.where(mask.bool(), ids, 7)
    with torch.no_grad():
        assert torch.equal(model(ids, mask=mask)[mask.bool()], model(other, mask=mask)[mask.bool()])


def test_making_a_model_leaves_global_chance_alone():
    before = torch.get_rng_state()
    first, second = (LessonBert(SIZE, seed=3).state_dict() for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(weight, second[name]) for name, weight in first.items())
    other = LessonBert(SIZE, seed=4).state_dict()
    assert not torch.equal(first["pooler.dense.weight"], other["pooler.dense.weight"])


def test_the_probabilities_of_all_tokens_sum_to_one_and_fall(guesser, pieces):
    (found,) = guesser.guess("ships [MASK] sea", k=len(pieces))
    shares = [p for _, p in found]
    assert sum(shares) == pytest.approx(1) and shares == sorted(shares, reverse=True)
    assert sorted(piece for piece, _ in found) == sorted(pieces.pieces)


def test_every_hidden_place_has_a_list_of_its_own(guesser):
    assert [len(found) for found in guesser.guess("[MASK] sail [MASK]", k=3)] == [3, 3]
    ids = guesser.number("[MASK] sail [MASK]")[0].tolist()
    assert ids[:2] == [2, 4] and ids[-2:] == [4, 3]


def test_a_model_with_a_strong_bias_guesses_that_token(guesser, pieces):
    with torch.no_grad():
        guesser.model.cls["predictions"].bias[pieces.pieces.index("sea")] = 30.0
    [[(best, p)]] = guesser.guess("ships [MASK]", k=1)
    assert (best, round(p, 3)) == ("sea", 1.0)


def test_a_folder_gives_the_weights_in_it_and_the_control_random_ones(guesser, pieces, tmp_path,
                                                                      monkeypatch):
    save_bert(tmp_path, guesser.model, pieces, card={})
    best, expected = (g.guess("ships [MASK]")[0] for g in (load_guesser(tmp_path), guesser))
    assert [piece for piece, _ in best] == [piece for piece, _ in expected]
    monkeypatch.setattr("lessons_lib.contextual.guessing.lesson_bert_folder", lambda: tmp_path)
    made = [*(load_guesser("lesson-bert-random", seed=seed) for seed in (1, 1, 2)), guesser]
    tables = [found.model.bert.embeddings.word_embeddings.weight for found in made]
    assert torch.equal(tables[0], tables[1]) and not torch.equal(tables[0], tables[2])
    assert torch.equal(tables[0], tables[3])


def test_without_the_course_model_the_command_that_gets_it_is_named(monkeypatch):
    monkeypatch.setattr("lessons_lib.contextual.loading.find", lambda file: None)
    with pytest.raises(DataMissing, match="lessons data get lesson-bert"):
        load_guesser()
