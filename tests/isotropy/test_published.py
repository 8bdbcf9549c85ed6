"""The released statistics of BERT, GPT-2 and ELMo, averaged again, are those that the fact sheet
and the paper print.
"""

from __future__ import annotations

import pytest

from lessons_lib.isotropy import PUBLISHED_MODELS, published_layers

PRINTED = {
    "bert": {
        "mean_cosine": (.105, .168, .219, .245, .327, .377, .420, .398, .399, .484, .561, .675,
                        .477), "intra_similarity": (.435, .522, .570, .590, .642, .695, .726, .711,
                                                    .720, .771, .820, .870, .776),
        "self_similarity": (.954, .921, .871, .823, .798, .781, .765, .744, .731, .754, .782, .839,
                            .755), "explained": (.010, .015, .020, .023, .024, .025, .028, .029,
                                                 .026, .023, .026, .040),
        "explained_by_chance": (.039, .025, .017, .012, .014, .012, .012, .010, .012, .015, .022,
                                .040, .009)
    }, "gpt2": {
        "mean_cosine": (.611, .644, .597, .614, .587, .573, .578, .582, .595, .617, .667, .758,
                        .978), "intra_similarity": (.808, .825, .583, .549, .537, .559, .586, .614,
                                                    .635, .658, .693, .768, .990),
        "self_similarity": (.917, .921, .900, .908, .884, .865, .850, .842, .838, .840, .852, .887,
                            .985), "explained": (.160, .286, .302, .301, .300, .297, .299, .302,
                                                 .308, .308, .351, .713),
        "explained_by_chance": (.062, .298, .969, .998, .998, .997, .997, .996, .995, .994, .992,
                                .985, .829)
    }, "elmo": {
        "mean_cosine": (.008, .157, .136), "intra_similarity": (.318, .582, .621),
        "self_similarity": (1, .744, .642), "explained": (.033, .039)
    }
}


@pytest.mark.data
@pytest.mark.parametrize("model", PUBLISHED_MODELS)
def test_the_means_over_words_are_the_printed_ones(lessons_data, model):
    found = published_layers(model)
    for name, printed in PRINTED[model].items():
        layers, values = found[name]
        assert values == pytest.approx(printed, abs=0.00051), name
        assert layers.tolist() == list(range(name == "explained",
                                             len(printed) + (name == "explained")))


@pytest.mark.data
def test_the_claims_of_the_paper_hold_for_the_released_figures(lessons_data):
    bert, elmo = published_layers("bert"), published_layers("elmo")
    norms = published_layers("bert")["norm"][1]                  # falls at the last layer
    assert norms[[0, 11, 12]] == pytest.approx([18.9, 29.4, 14.2], abs=0.05)
    # anisotropic everywhere but in ELMo's input
    assert elmo["mean_cosine"][1][0] < 0.01 < bert["mean_cosine"][1].min()
    adjusted = bert["self_similarity"][1] - bert["mean_cosine"][1]
    assert adjusted[0] - adjusted[12] > 0.5  # contextualisation grows with depth
    assert bert["explained"][1].max() < 0.05  # one static vector explains < 5 %
