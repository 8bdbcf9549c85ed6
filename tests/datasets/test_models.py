"""A model that comes with the course: its folder, whole and as its card and the manifest say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessons_lib.core import DataMissing
from lessons_lib.datasets import load
from lessons_lib.datasets.loading import _model_folder as model_folder, _Request as Request
from lessons_lib.datasets.registry import registered


def test_lesson_bert_lies_in_one_folder_and_its_card_tells_what_it_is():
    folder = load("lesson-bert")
    card = json.loads((folder / "card.json").read_text("utf-8"))
    assert {Path(file.path).name for file in registered("lesson-bert").files} == {path.name for path in folder.iterdir()}
    assert card["bytes"] == (folder / "model.safetensors").stat().st_size < 25_000_000
    assert card["held_out_accuracy"] >= 0.30 and card["steps"] == card["steps planned"] and card["licence"] and card["limits"]
    assert card["moments"][0]["held_out_accuracy"] < 0.01 and len(card["loss"]) > 50


def test_a_model_whose_files_lie_in_two_places_is_not_read(tmp_path):
    paths = tmp_path / "a" / "config.json", tmp_path / "b" / "model.safetensors"
    with pytest.raises(DataMissing, match="lesson-bert lie in 2 folders"):
        model_folder(Request(registered("lesson-bert"), paths, "all", {}))
