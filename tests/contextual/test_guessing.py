"""Guessing hidden tokens: probabilities of the whole vocabulary, one list per hidden place, and
what a model learned by heart.
"""

from __future__ import annotations

import pytest
import torch

from lessons_lib.contextual import BertSize, LessonBertForPretraining, WordGuesser, load_guesser
from lessons_lib.contextual.saved_bert import save_bert
from lessons_lib.core import DataMissing


@pytest.fixture
def guesser(pieces) -> WordGuesser:
    return WordGuesser(LessonBertForPretraining(BertSize(len(pieces), dim=16, layers=2, heads=2,
                                                         feed_forward=32, positions=12), seed=1),
                       pieces)


def test_the_probabilities_of_all_pieces_sum_to_one_and_fall(guesser, pieces):
    (found,) = guesser.guess("ships [MASK] sea", k=len(pieces))
    shares = [p for _, p in found]
    assert sum(shares) == pytest.approx(1) and shares == sorted(shares, reverse=True)
    assert sorted(piece for piece, _ in found) == sorted(pieces.pieces)


def test_every_hidden_place_has_a_list_of_its_own(guesser):
    assert [len(found) for found in guesser.guess("[MASK] sail [MASK]", k=3)] == [3, 3]
    ids = guesser.number("[MASK] sail [MASK]")[0].tolist()
    assert ids[:2] == [2, 4] and ids[-2:] == [4, 3]


def test_a_model_with_a_strong_bias_guesses_that_piece(guesser, pieces):
    wanted = pieces.pieces.index("sea")
    with torch.no_grad():
        guesser.model.cls["predictions"].bias[wanted] = 30.0
    [[(best, p)]] = guesser.guess("ships [MASK]", k=1)
    assert (best, round(p, 3)) == ("sea", 1.0)


def test_a_folder_gives_the_weights_in_it_and_the_control_their_start(guesser, pieces, tmp_path,
                                                                      monkeypatch):
    save_bert(tmp_path, guesser.model, pieces, card={})
    assert [piece for piece, _ in load_guesser(tmp_path).guess("ships [MASK]")[0]] == [
        piece for piece, _ in guesser.guess("ships [MASK]")[0]
    ]
    monkeypatch.setattr("lessons_lib.contextual.guessing.lesson_bert_folder", lambda: tmp_path)
    drawn = ([load_guesser("lesson-bert-random",
                           seed=seed).model.bert.embeddings.word_embeddings.weight
              for seed in (1, 1, 2)])
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert torch.equal(drawn[0], guesser.model.bert.embeddings.word_embeddings.weight)


def test_without_the_course_model_the_command_that_gets_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("lessons_lib.contextual.loading.find", lambda file: None)
    with pytest.raises(DataMissing, match="lessons data get lesson-bert"):
        load_guesser()
