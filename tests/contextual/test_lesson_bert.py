"""LessonBert is transformers' BERT: same names, same numbers; and its folder is read by both or
refused.
"""

from __future__ import annotations

import json

import pytest
import torch

from lessons_lib.contextual import BertSize, LessonBert, LessonBertForPretraining
from lessons_lib.contextual.saved_bert import load_bert, save_bert
from lessons_lib.core import DamagedFile

SIZE = BertSize(90, dim=24, layers=3, heads=2, feed_forward=40, positions=20)


@pytest.fixture
def rows():
    chance = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 90, (3, 17), generator=chance)
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, 9:], segments[:, 6:] = 0, 1
    return ids, mask, segments


def _theirs(kind: str):
    import transformers

    return getattr(transformers, kind)(transformers.BertConfig(**SIZE.to_config())).eval()


def test_every_layer_equals_that_of_transformers(rows):
    ids, mask, segments = rows
    ours, theirs = LessonBert(SIZE, seed=3).eval(), _theirs("BertModel")
    theirs.load_state_dict(ours.state_dict())  # strict: every name and shape is the same
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask, token_type_ids=segments,
                          output_hidden_states=True)
        states = ours.hidden_states(ids, mask=mask, segments=segments)
        assert len(states) == SIZE.layers + 1
        for mine, other in zip(states, expected.hidden_states, strict=True):
            assert (mine - other).abs().max() <= 1e-5
        assert (ours.pool(states[-1]) - expected.pooler_output).abs().max() <= 1e-5


def test_weights_of_transformers_come_back(rows):
    ids, mask, _ = rows
    theirs, ours = _theirs("BertModel"), LessonBert(SIZE).eval()
    ours.load_state_dict(theirs.state_dict())
    with torch.no_grad():
        assert (ours(ids, mask=mask) -
                theirs(ids, attention_mask=mask).last_hidden_state).abs().max() <= 1e-5


def test_heads_equal_those_of_transformers(rows, pieces, tmp_path):
    from transformers import BertForPreTraining

    size = BertSize(len(pieces), dim=24, layers=2, heads=2, feed_forward=40, positions=20)
    ids = rows[0] % len(pieces)
    save_bert(tmp_path, LessonBertForPretraining(size, seed=5), pieces, card={})
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
    first, second = LessonBert(SIZE, seed=3), LessonBert(SIZE, seed=3)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(first.state_dict().values(),
                                                 second.state_dict().values(), strict=True))
    assert not torch.equal(first.pooler["dense"].weight,
                           LessonBert(SIZE, seed=4).pooler["dense"].weight)


def test_the_config_comes_back():
    assert BertSize.from_config(SIZE.to_config()) == SIZE


@pytest.fixture
def folder(pieces, tmp_path):
    save_bert(tmp_path, LessonBertForPretraining(BertSize(len(pieces), dim=8, layers=1, heads=2,
                                                          feed_forward=8)), pieces, card={})
    return tmp_path


@pytest.mark.parametrize("change, said", [({"num_hidden_layers": 2}, "num_hidden_layers=2; the "
                                           "weights"), ({"hidden_act": "relu"}, "hidden_act"),
                                          ({"hidden_size": 16}, "hidden_size=16; the "
                                           "weights"), ({"num_attention_heads": 3}, "heads=3")])
def test_E19_a_config_that_does_not_fit_the_weights_is_refused(folder, change, said):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ValueError, match=said):
        load_bert(folder)


def test_E18_cut_weights_are_refused(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-10])
    with pytest.raises(DamagedFile, match="cut or changed"):
        load_bert(folder)
