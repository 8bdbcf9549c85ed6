"""Gao et al. 2019, the cone and the spectrum; Li et al. 2020, Table 1; Ethayarajh 2019, Figures 1 to 4: measured on the course's own models.

The papers' models are too large to carry along. What Ethayarajh released stands beside LessonBERT, recomputed from his files; the start weights of
the same architecture are the control beside every number. Discussed in lesson ``09_anisotropy``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..core import generator
from ..counts.named import sample_sentences
from ..datasets import load
from ..isotropy import (Contextuality, cone, contextuality, knn_by_frequency, mean_cosine, published_layers, singular_spectrum)
from ..plots import cone as draw_cone
from ..plots import layer_lines, similarity_matrix
from ..plots import singular_spectrum as draw_spectrum
from .entry import Claim, Entry, Series
from .models import COURSE, RANDOM, model_of, with_encoder

__all__ = ["ENTRIES", "NAMES", "WordTable", "layer_measures", "released_measures", "token_table", "word_tables"]

LEAST = 5                                         # occurrences of a piece that counts as a word
MODELS = {"LessonBERT": "", "start weights": RANDOM}        # what stands after the name of the model
NAMES = {"bert": "BERT", "gpt2": "GPT-2", "elmo": "ELMo"}
MEASURES = ("mean cosine", "self-similarity", "intra-sentence similarity", "explained variance")
SCALES = with_encoder({"smoke": {"sentences": 200, "points": 200}, "laptop": {"sentences": 1000, "points": 600},
                       "paper": {"sentences": 4000, "points": 1500}})


# ------------------------------------------------------------------------------------------------ tables of words


class WordTable(NamedTuple):
    """``vectors`` (n, d) float64, one row per word; ``counts`` (n,), how often each stood in the training text; ``words``."""

    vectors: np.ndarray
    counts: np.ndarray
    words: list[str]


def word_tables(encoder: str = COURSE) -> dict[str, WordTable]:
    """Words only: skip-gram of the course, LessonBERT's raw table or that of another ``encoder``, and a table of start weights.

    Pieces of a model that does not say how often it read them are counted in the course's sample of Wikipedia. Raises DataMissing.
    """
    vectors, frequencies = load("course-vectors"), load("course-frequencies")
    seen = dict(zip(frequencies.words, frequencies.counts.tolist(), strict=True))
    found = {"skip-gram": WordTable(vectors.matrix.astype(np.float64), np.array([seen[word] for word in vectors.tokens]), list(vectors.tokens))}
    for name, ending in MODELS.items():
        model = model_of(encoder + ending)
        counts = _counted(model) if model.piece_counts is None else model.piece_counts
        pieces = model.pieces
        words = np.flatnonzero(_letters(pieces) & (counts >= LEAST))
        found[name] = WordTable(model.word_table[words].astype(np.float64), counts[words], [pieces[i] for i in words])
    return found


def _counted(model: ContextualEncoder) -> np.ndarray:
    """How often each piece stands in the course's sample of Wikipedia."""
    numbered = model.tokenizer.number(sample_sentences(), longest=sys.maxsize, refuse=False)
    return np.bincount(numbered.ids, minlength=model.reader.vocabulary)


def _letters(pieces: Sequence[str]) -> np.ndarray:
    """Whether each piece is a word or a part of one: no special piece, no punctuation."""
    return np.array([piece.removeprefix("##")[:1].isalnum() for piece in pieces])


def _measure_cones(settings: Mapping[str, Any], seed: int) -> Series:
    """Points by first and second coordinate."""
    found = {}
    for name, (table, *_) in word_tables(settings["encoder"]).items():
        some = generator(seed).permutation(len(table))[: settings["points"]]
        points = cone(table).points[some].round(4)
        found[name] = {float(x): float(y) for x, y in points}
        found[f"mean cosine, {name}"] = {0: mean_cosine(table)}
    return found


def _draw_cones(entry: Entry, measured: Series) -> Any:
    panels = {name: np.array(list(points.items())) for name, points in measured.items() if not name.startswith("mean cosine")}
    return draw_cone(panels, title="A language model's words lie on one side of the origin")


def _measure_spectra(settings: Mapping[str, Any], seed: int) -> Series:
    tables = word_tables(settings["encoder"])
    return {name: {k + 1: float(share) for k, share in enumerate(singular_spectrum(table))} for name, (table, *_) in tables.items()}


def _draw_spectra(entry: Entry, measured: Series) -> Any:
    return draw_spectrum({name: list(values.values()) for name, values in measured.items()},
                         title="One direction of a language model's table stands far above all others")


# ------------------------------------------------------------------------------------------------ frequency


def _measure_frequency(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[float, float]] = {}
    for name, (table, counts, _) in word_tables(settings["encoder"]).items():
        bins = knn_by_frequency(table, counts)
        values = {"norm": bins.norms} | {f"distance, k = {k}": bins.distances[:, j] for j, k in enumerate(bins.ks)}
        values |= {f"dot product, k = {k}": bins.dots[:, j] for j, k in enumerate(bins.ks)}
        for row, column in values.items():
            found[row if name == "LessonBERT" else f"{row}, {name}"] = dict(enumerate(map(float, column)))
    return found


def _draw_frequency(entry: Entry, measured: Series) -> Any:
    bins = [name for k, name in enumerate(("≤ 100", "≤ 500", "≤ 5,000", "≤ 10,000")) if k in measured["norm"]]      # a small vocabulary has fewer
    values = np.array([[series[row][k] for k in range(len(bins)) for series in (entry.printed, measured)] for row in entry.printed])
    return similarity_matrix(values, list(entry.printed), columns=[f"{name}, {who}" for name in bins for who in ("BERT", "here")],
                             form="{:.2f}", limits=None, title="Rarer words: longer vectors, farther neighbours")


# ------------------------------------------------------------------------------------------------ layers


def token_table(model: str, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tokens of sentences in every layer: vectors (layers + 1, tokens, dim) float32, ids of the pieces and numbers of the sentences (tokens,).

    Parameters: model, a name for `model_of`; sentences. [CLS], [SEP] and punctuation have id -1.
    """
    encoder = model_of(model)
    letters = _letters(encoder.pieces)
    vectors, ids, numbers = [], [], []
    for number, text in enumerate(encoder.hidden_states(sentences)):
        vectors.append(text.vectors)
        ids.append(np.where(text.special | ~letters[text.ids], -1, text.ids))
        numbers.append(np.full(len(text.ids), number))
    return np.concatenate(vectors, axis=1), np.concatenate(ids), np.concatenate(numbers)


@functools.lru_cache(maxsize=2)
def _layers(n: int, seed: int, encoder: str) -> dict[str, list[Contextuality]]:
    some = generator(seed).permutation(sample_sentences())[:n].tolist()
    found = {}
    for name, ending in MODELS.items():
        vectors, ids, numbers = token_table(encoder + ending, some)
        found[name] = [contextuality(layer, ids, numbers, seed=seed) for layer in vectors]
    return found


def layer_measures(layers: Sequence[Contextuality]) -> dict[str, np.ndarray]:
    """The four measures of the paper, (layers,) each: the mean cosine, and three less what chance gives, from `contextuality` of every layer."""
    rows = [(c.mean_cosine, *(part.means[2] for part in (c.self_similarity, c.intra_similarity, c.explained))) for c in layers]
    return dict(zip(MEASURES, np.array(rows).T, strict=True))


def released_measures(model: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The same of a published model, measure -> (layers, values), recomputed from what its author released.

    Similarities less the mean cosine of random words; explained variance has no baseline that fits and stays as it is. Parameters: model, "bert",
    "gpt2" or "elmo". Raises ValueError, DataMissing.
    """
    found = published_layers(model)
    base = found["mean_cosine"][1]
    adjusted = {"mean cosine": found["mean_cosine"], "explained variance": found["explained"]}
    for name, key in (("self-similarity", "self_similarity"), ("intra-sentence similarity", "intra_similarity")):
        layers, values = found[key]
        adjusted[name] = layers, values - base[layers]
    return adjusted


def _measure_layers(measure: str, settings: Mapping[str, Any], seed: int) -> Series:
    own = {name: layer_measures(layers)[measure] for name, layers in _layers(settings["sentences"], seed, settings["encoder"]).items()}
    found = {name: dict(enumerate(map(float, values))) for name, values in own.items()}
    for model, name in NAMES.items():
        layers, values = released_measures(model)[measure]
        found[f"{name}, released"] = {int(k): float(v) for k, v in zip(layers, values, strict=True)}
    return found


def _draw_layers(measure: str, entry: Entry, measured: Series) -> Any:
    lines = {name: (list(points), list(points.values())) for name, points in measured.items()}
    released = {name: line for name, line in lines.items() if name.endswith(", released")}
    return layer_lines({name: line for name, line in lines.items() if name not in released}, ylabel=measure, published=released,
                       title=f"{measure.capitalize()} by depth, here and in the models of the paper")


def _last(points: Mapping[float, float]) -> float:
    return points[max(points)]


def _falls(points: Mapping[float, float]) -> bool:
    return _last(points) < points[min(points)]


# ------------------------------------------------------------------------------------------------ the entries

TABLES = ("Skip-gram of the course, the raw word table of LessonBERT (whole words and pieces that occur at least five times, no special ones), and "
          "the table it began with. ")
LAYERS = ("Sentences of 106 Wikipedia articles, pieces without punctuation, [CLS] and [SEP]; LessonBERT and its start weights, measured by the "
          "library; BERT-base cased, GPT-2 and ELMo recomputed from the files that the author released. The paper prints curves and no numbers. ")
CLAIMS: dict[str, tuple[tuple[str, Callable[[Series], bool]], ...]] = {
    "mean cosine": (
        ("in every layer of BERT and GPT-2 random words have a mean cosine of at least 0.1",
         lambda m: all(min(m[f"{name}, released"].values()) >= 0.1 for name in ("BERT", "GPT-2"))),
        ("the input of ELMo is nearly isotropic", lambda m: m["ELMo, released"][0] < 0.05),
        ("in every contextual layer of LessonBERT random words have a mean cosine of at least 0.1",
         lambda m: min(v for k, v in m["LessonBERT"].items() if k > 0) >= 0.1)),
    "self-similarity": (
        ("adjusted self-similarity falls from the first to the last layer of BERT, GPT-2 and ELMo",
         lambda m: all(_falls(m[f"{name}, released"]) for name in NAMES.values())),
        ("adjusted self-similarity falls from the first to the last layer of LessonBERT", lambda m: _falls(m["LessonBERT"]))),
    "intra-sentence similarity": (
        ("in BERT the words of a sentence stay more alike than random words, in every layer", lambda m: min(m["BERT, released"].values()) > 0),
        ("in GPT-2's last layer they are hardly more alike than random words", lambda m: _last(m["GPT-2, released"]) < 0.05),
        ("in LessonBERT they stay more alike, in every layer", lambda m: min(m["LessonBERT"].values()) > 0)),
    "explained variance": (
        ("in BERT one static vector explains less than 5 % of the variance of a word, on average, in every layer",
         lambda m: max(m["BERT, released"].values()) < 0.05),
        ("in the last layer of LessonBERT it explains less than in the first", lambda m: _falls(m["LessonBERT"]))),
}


HEADLINE = {"last layer, LessonBERT": ("LessonBERT", np.inf), "start weights": ("start weights", np.inf),
            "BERT released": ("BERT, released", np.inf)}


def _layer_entry(number: int, measure: str, extra: str, alt: str) -> Entry:
    return Entry(id=f"ethayarajh2019_figure{number}", paper="ethayarajh2019contextual", item=f"Figure {number}", lesson="anisotropy",
                 setup=LAYERS + extra, printed={}, measure=functools.partial(_measure_layers, measure), draw=functools.partial(_draw_layers, measure),
                 alt=alt, claims=tuple(Claim(*claim) for claim in CLAIMS[measure]), scales=SCALES, headline=HEADLINE)


ENTRIES = (
    Entry(
        id="gao2019_figure1", paper="gao2019representation", item="Figure 1", lesson="anisotropy", printed={},
        setup=TABLES + "The paper shows a Transformer that translates, word2vec and a classifier; pictures and no numbers. Here x and y of a series "
                       "are the coordinates of a word along the first two right singular vectors, uncentred.",
        measure=_measure_cones, draw=_draw_cones, scales=SCALES,
        headline={f"mean cosine, {name}": (f"mean cosine, {name}", 0) for name in (*MODELS, "skip-gram")},
        alt="Three panels of word vectors around the origin: skip-gram, LessonBERT, and its start weights. The origin and the narrowest sector with "
            "95 per cent of the words are marked.",
        claims=(Claim("the words of the language model have a mean cosine above 0.3", lambda m: m["mean cosine, LessonBERT"][0] > 0.3),
                Claim("those of the model before training are isotropic", lambda m: abs(m["mean cosine, start weights"][0]) < 0.02),
                Claim("the words of the language model are less isotropic than those of word2vec",
                      lambda m: m["mean cosine, LessonBERT"][0] > m["mean cosine, skip-gram"][0]))),
    Entry(
        id="gao2019_spectrum", paper="gao2019representation", item="singular values beside Figure 1", lesson="anisotropy", printed={},
        setup=TABLES + "Singular values of the uncentred table divided by the largest; the widths of the tables differ.",
        measure=_measure_spectra, draw=_draw_spectra, scales=SCALES,
        headline={f"second value, {name}": (name, 2) for name in (*MODELS, "skip-gram")},
        alt="Singular values divided by the largest one, log axes: skip-gram, LessonBERT and its start weights. The start weights fall slowest.",
        claims=(Claim("the second singular value of the language model is below half of the first", lambda m: m["LessonBERT"][2] < 0.5),
                Claim("before training it is above 90 %", lambda m: m["start weights"][2] > 0.9),
                Claim("the language model falls faster than word2vec at the second value", lambda m: m["LessonBERT"][2] < m["skip-gram"][2]))),
    Entry(
        id="li2020_table1", paper="li2020sentence", item="Table 1", lesson="anisotropy",
        setup=TABLES + "Frequency ranks of the training text of each; x = 0 to 3: ranks up to 100, 500, 5,000 and 10,000 (printed as 1K) or the last "
                       "word. The paper's table is that of BERT-base; where a row names no model, it is LessonBERT's.",
        printed={"norm": {0: 0.95, 1: 1.04, 2: 1.22, 3: 1.45},
                 "distance, k = 3": {0: 0.77, 1: 0.93, 2: 1.16, 3: 1.30}, "distance, k = 5": {0: 0.83, 1: 0.99, 2: 1.22, 3: 1.34},
                 "distance, k = 7": {0: 0.87, 1: 1.04, 2: 1.26, 3: 1.37}, "dot product, k = 3": {0: 0.73, 1: 0.92, 2: 1.20, 3: 1.63},
                 "dot product, k = 5": {0: 0.73, 1: 0.91, 2: 1.19, 3: 1.61}, "dot product, k = 7": {0: 0.72, 1: 0.90, 2: 1.17, 3: 1.60}},
        measure=_measure_frequency, draw=_draw_frequency, scales=SCALES,
        alt="Table of mean length, mean distance and dot product of nearest neighbours by frequency rank, for BERT in the paper and LessonBERT here.",
        claims=(Claim("the rarer the words, the longer the vectors", lambda m: bool((np.diff(list(m["norm"].values())) > 0).all())),
                Claim("the rarer the words, the farther the 3 nearest neighbours",
                      lambda m: bool((np.diff(list(m["distance, k = 3"].values())) > 0).all())),
                Claim("the rarer the words, the larger the 3 largest dot products",
                      lambda m: bool((np.diff(list(m["dot product, k = 3"].values())) > 0).all()))),
        headline={"length, frequent": ("norm", 0), "rare": ("norm", 3), "distance of 3, frequent": ("distance, k = 3", 0),
                  "rare words": ("distance, k = 3", 3)},
        why="It depends on the table: in LessonBERT's, rare words are long and lie close together all the same, as if pushed into one direction; in "
            "that of skip-gram, measured beside it, the distance rises as printed."),
    _layer_entry(1, "mean cosine", "Mean cosine of random tokens.",
                 "Mean cosine of random words by relative depth: LessonBERT and its start weights in colour, BERT, GPT-2 and ELMo in grey."),
    _layer_entry(2, "self-similarity", "Less the mean cosine of as many random tokens.",
                 "Adjusted self-similarity by relative depth: LessonBERT and its start weights in colour, the released models, falling, in grey."),
    _layer_entry(3, "intra-sentence similarity", "Less the same of as many random tokens; the released one less the mean cosine, as in the paper.",
                 "Adjusted intra-sentence similarity by relative depth: LessonBERT and its start weights in colour, the released models in grey."),
    _layer_entry(4, "explained variance", "Ours uncentred, less that of as many random tokens; the released one centred and as it is, because its "
                                          "baseline has another estimator and another number of vectors.",
                 "Maximum explainable variance by relative depth: LessonBERT and its start weights, less chance, in colour; released, raw, in grey."),
)
