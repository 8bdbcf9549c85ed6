"""Recipes: every method at every scale makes a trainer, with the numbers that are printed."""

from __future__ import annotations

import pytest

from lessons_lib.contrastive import CoSent, Distil, SBert, SimCse, trainable_bag
from lessons_lib.contrastive.recipes import (BACKBONES, BAG, METHODS, PAPER, RECIPES, SCALES,
                                             recipe)

KIND = {"simcse": SimCse, "supervised simcse": SimCse, "cosent": CoSent,
        "distil": Distil}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", SCALES)
def test_every_recipe_makes_a_trainer(encoder, method, scale):
    settings = recipe(method, scale, encoder)
    trainer = KIND.get(method, SBert)(encoder, **settings)
    trainer._check_settings()
    assert trainer.get_params().items() >= settings.items()
    settings["seed"] = 5
    assert "seed" not in recipe(method, scale, encoder)


@pytest.mark.parametrize("method", METHODS)
def test_a_bag_learns_at_its_own_rate(method):
    bag = trainable_bag(buckets=16)
    settings = recipe(method, "laptop", bag)
    assert settings == BAG[method] and settings["learning_rate"] >= 0.005
    KIND.get(method, SBert)(bag, **settings)._check_settings()
    assert recipe(method, "smoke", bag) == RECIPES[method, "smoke"]


def test_the_paper_s_table_of_simcse():
    printed = {"bert-base": (64, 3e-5, 512, 5e-5), "bert-large": (64, 1e-5, 512, 1e-5),
               "roberta-base": (512, 1e-5, 512, 5e-5), "roberta-large": (512, 3e-5, 512, 1e-5)}
    for backbone, numbers in printed.items():
        plain, supervised = PAPER["simcse", backbone], PAPER["supervised simcse", backbone]
        assert (plain["batch_size"], plain["learning_rate"], supervised["batch_size"],
                supervised["learning_rate"]) == numbers
        assert plain["epochs"] == 1 and supervised["epochs"] == 3
        assert plain["max_length"] == supervised["max_length"] == 32
        assert plain["pooling"] == "cls" and plain["temperature"] == 0.05 and plain["warmup"] == 0
    assert {(m, b) for m in METHODS for b in BACKBONES} == set(PAPER)
    sbert, cosent = PAPER["sbert", "bert-base"], PAPER["cosent", "bert-base"]
    assert (sbert["batch_size"], sbert["warmup"], cosent["batch_size"],
            cosent["epochs"]) == (16, 0.1, 32, 5)


def test_the_encoder_chooses_the_backbone(encoder, monkeypatch):
    assert recipe("simcse", "paper", encoder) == PAPER["simcse", "bert-base"]
    assert RECIPES["simcse", "paper"] == PAPER["simcse", "bert-base"]
    monkeypatch.setattr(type(encoder.reader), "kind", "roberta")
    assert recipe("simcse", "paper", encoder) == PAPER["simcse", "roberta-base"]
    monkeypatch.setattr(encoder.reader, "blocks", 24)
    assert recipe("simcse", "paper", encoder) == PAPER["simcse", "roberta-large"]
