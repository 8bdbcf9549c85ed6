"""Gao et al. 2019, Li et al. 2020 (Table 1), Ethayarajh 2019 (Figures 1 to 4), on our own models.

The papers' models are too large to carry along. What Ethayarajh released stands beside LessonBERT,
recomputed from his files; a random initialisation of the same architecture is the control beside
every number. Discussed in lesson ``09_anisotropy``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import generator
from ..counts.named import sample_sentences
from ..datasets import load
from ..isotropy import (Contextuality, cone, contextuality, knn_by_frequency, mean_cosine,
                        published_layers, singular_spectrum)
from ..plots import cone as draw_cone
from ..plots import layer_lines
from ..plots import singular_spectrum as draw_spectrum
from .entry import Entry, Holds, Rows, Series, declared
from .models import CONTROL, COURSE, RANDOM, model_of, with_encoder
from .pictures import curves_of, line_panels

__all__ = ["ENTRIES", "NAMES", "WordTable", "layer_measures", "released_measures", "token_table",
           "word_tables"]

WORDS = 10_000  # of skip-gram, the most frequent
RANKS = (100, 500, 5000, 10_000)  # the least frequent word of each group of Table 1
LEAST = 5  # occurrences of a subword that counts as a word
START = "start weights"
MODELS = {"LessonBERT": "", START: RANDOM}  # what stands after the name of the model
NAMES = {"bert": "BERT", "gpt2": "GPT-2", "elmo": "ELMo"}
SCALES = with_encoder({"sentences": 200, "points": 200}, {"sentences": 1000, "points": 600},
                      {"sentences": 4000, "points": 1500})


class WordTable(NamedTuple):
    """``vectors`` (n, d) float64, one row per word; ``counts`` (n,) in the training text."""

    vectors: np.ndarray
    counts: np.ndarray
    words: list[str]


def word_tables(encoder: str = COURSE) -> dict[str, WordTable]:
    """Words only: the course's skip-gram, of it about as many words as a model has subwords; a
    model's raw table, and its random initialisation. (Over all its words the norms of skip-gram
    rise with falling frequency, and fall again where words are rare.) Subwords of a model that
    does not say how often it read them are counted in the course's sample of Wikipedia."""
    vectors, frequencies = load("course-vectors"), load("course-frequencies")
    seen = dict(zip(frequencies.words, frequencies.counts.tolist(), strict=True))
    words = list(vectors.tokens)[:WORDS]
    counts = np.array([seen[word] for word in words])
    matrix = vectors.matrix[:WORDS].astype(np.float64)
    tables = {"skip-gram": WordTable(matrix, counts, words)}
    for name, ending in MODELS.items():
        model = model_of(encoder + ending)
        counts, pieces = model.piece_counts, model.pieces
        if counts is None:
            numbered = model.tokenizer.number(sample_sentences(), longest=sys.maxsize, refuse=False)
            counts = np.bincount(numbered.ids, minlength=model.reader.vocabulary)
        words = np.flatnonzero(_letters(pieces) & (counts >= LEAST))
        rows = model.word_table[words].astype(np.float64)
        tables[name] = WordTable(rows, counts[words], [pieces[i] for i in words])
    return tables


def _letters(pieces: Sequence[str]) -> np.ndarray:
    """Whether each token is a word or a subword: no special token, no punctuation."""
    return np.array([piece.removeprefix("##")[:1].isalnum() for piece in pieces])


def _measure_cones(settings: Mapping[str, Any], seed: int) -> Series:
    """Points by first and second coordinate."""
    result: Rows = {}
    for name, (table, *_) in word_tables(settings["encoder"]).items():
        some = generator(seed).permutation(len(table))[: settings["points"]]
        result[name] = {float(x): float(y) for x, y in cone(table).points[some].round(4)}
        result[f"mean cosine, {name}"] = {0: mean_cosine(table)}
    return result


def _measure_frequency(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    for name, (table, counts, _) in word_tables(settings["encoder"]).items():
        bins = knn_by_frequency(table, counts)
        values = {"norm": bins.norms}
        values |= {f"distance, k = {k}": bins.distances[:, j] for j, k in enumerate(bins.ks)}
        values |= {f"dot product, k = {k}": bins.dots[:, j] for j, k in enumerate(bins.ks)}
        for row, column in values.items():
            title = row if name == "LessonBERT" else f"{row}, {name}"
            result[title] = dict(enumerate(map(float, column)))
    return result


def token_table(model: str, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tokens of sentences in every layer of a model, a name for `model_of`. Vectors (layers +
    1, tokens, dim) float32, ids of the tokens and numbers of the sentences (tokens,). [CLS], [SEP]
    and punctuation have id -1."""
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
    layers = {}
    for name, ending in MODELS.items():
        vectors, ids, numbers = token_table(encoder + ending, some)
        layers[name] = [contextuality(layer, ids, numbers, seed=seed) for layer in vectors]
    return layers


def layer_measures(layers: Sequence[Contextuality]) -> dict[str, np.ndarray]:
    """The paper's measures, (layers,) each: mean cosine, and three less what chance gives."""
    return {"mean cosine": np.array([c.mean_cosine for c in layers]),
            "self-similarity": np.array([c.self_similarity.means[2] for c in layers]),
            "intra-sentence similarity": np.array([c.intra_similarity.means[2] for c in layers]),
            "explained variance": np.array([c.explained.means[2] for c in layers])}


def released_measures(model: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The same of "bert", "gpt2" or "elmo", measure -> (layers, values), from the author's files.
    Similarities less the mean cosine of random words; explained variance has no baseline that fits
    and stays as it is. Raises ValueError, DataMissing."""
    layers = published_layers(model)
    base = layers["mean_cosine"][1]
    result = {"mean cosine": layers["mean_cosine"], "explained variance": layers["explained"]}
    similarities = {
        "self-similarity": "self_similarity", "intra-sentence similarity": "intra_similarity"}
    for name, key in similarities.items():
        numbers, values = layers[key]
        result[name] = numbers, values - base[numbers]
    return result


def _layer_entry(number: int, name: str, **holds: Holds) -> Entry:
    """One measure by layer, here and in the models of the paper."""
    def measure(settings: Mapping[str, Any], seed: int) -> Series:
        result: Rows = {}
        for model, layers in _layers(settings["sentences"], seed, settings["encoder"]).items():
            result[model] = dict(enumerate(map(float, layer_measures(layers)[name])))
        for model, title in NAMES.items():
            pairs = zip(*released_measures(model)[name], strict=True)
            result[f"{title}, released"] = {int(k): float(v) for k, v in pairs}
        return result

    def ends(row: Mapping[float, float]) -> str:
        return f"{row[min(row)]:.2f} to {row[max(row)]:.2f}"

    def draw(entry: Entry, measured: Series) -> Any:
        released = {k: row for k, row in measured.items() if k.endswith(", released")}
        own = {k: row for k, row in measured.items() if k not in released}
        return layer_lines(
            curves_of(own), ylabel=name, published=curves_of(released),
            title=f"{name.capitalize()} from the input to the last layer: LessonBERT "
                  f"{ends(own['LessonBERT'])}, BERT {ends(released['BERT, released'])}")

    return declared(f"ethayarajh2019_figure{number}", measure, draw, SCALES, **holds)


def _draw_frequency(entry: Entry, measured: Series) -> Any:
    """Norms and distances of the groups, as printed in grey; the title tells what came out."""
    panels = {}
    for heading, row in {"norm": "norm", "distance to the 3 nearest": "distance, k = 3"}.items():
        rows = {"BERT-base (paper)": entry.printed[row], "LessonBERT": measured[row],
                "LessonBERT" + CONTROL: measured.get(f"{row}, {START}", {})}
        panels[heading] = {name: {RANKS[x]: y for x, y in points.items()}
                           for name, points in rows.items()}
    norms = "larger" if _rises("norm")(measured) else "no larger"
    here, paper = ("nearer" if _falls(of["distance, k = 3"]) else "farther"
                   for of in (measured, entry.printed))
    return line_panels(
        panels, title=f"Rarer words have {norms} norms; their neighbours are {here} here, "
        f"{paper} in BERT", xlabel="frequency rank, up to", grey=["BERT-base (paper)"],
        ticks=(100, 1000, 10_000), xscale="log")


def _falls(row: Mapping[float, float]) -> bool:
    return row[max(row)] < row[min(row)]


def _rises(name: str) -> Holds:
    return lambda m: bool((np.diff(list(m[name].values())) > 0).all())


def _least(m: Series, *names: str) -> float:
    return min(y for name in names for y in m[name].values())


ENTRIES = (
    declared("gao2019_figure1", _measure_cones, lambda entry, m: draw_cone(
        {name: np.array(list(row.items())) for name, row in m.items() if "mean cosine" not in name},
        title="A language model's words lie on one side of the origin"),
        SCALES, isotropic=lambda m: abs(m["mean cosine, start weights"][0]) < 0.02),
    declared("gao2019_spectrum", lambda settings, seed: {
        name: {k: float(share) for k, share in enumerate(singular_spectrum(table), 1)}
        for name, (table, *_) in word_tables(settings["encoder"]).items()}, lambda entry, m: (
            draw_spectrum({name: list(row.values()) for name, row in m.items()}, title=(
                "One direction of a language model's table stands far above all others"))), SCALES),
    declared("li2020_table1", _measure_frequency, _draw_frequency, SCALES, norms=_rises("norm"),
             distances=_rises("distance, k = 3"), dots=_rises("dot product, k = 3")),
    _layer_entry(1, "mean cosine",
                 released=lambda m: _least(m, "BERT, released", "GPT-2, released") >= 0.1,
                 here=lambda m: min(v for k, v in m["LessonBERT"].items() if k > 0) >= 0.1),
    _layer_entry(2, "self-similarity", here=lambda m: _falls(m["LessonBERT"]),
                 released=lambda m: all(_falls(m[f"{k}, released"]) for k in NAMES.values())),
    _layer_entry(3, "intra-sentence similarity", here=lambda m: _least(m, "LessonBERT") > 0,
                 bert=lambda m: _least(m, "BERT, released") > 0,
                 gpt2=lambda m: (row := m["GPT-2, released"])[max(row)] < 0.05),
    _layer_entry(4, "explained variance", here=lambda m: _falls(m["LessonBERT"]),
                 bert=lambda m: max(m["BERT, released"].values()) < 0.05),
)
